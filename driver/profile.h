// `--profile`, `--flame-graph` and `--chrome-trace` of `baton run`.
#pragma once

#include "driver/commands.h"
#include "vm/profile/recorder.h"

namespace driver {

/// Whether the time of the run is to be recorded.
bool wantsProfile(const RunOptions& options);
/// Why the options for profiles and traces cannot be had with each other or with the engine; empty
/// when they can.
std::string observationProblem(const RunOptions& options);
/// Puts the table into the answer and writes the files.
void reportProfile(const profile::Recorder& recorder, const RunOptions& options, Answer& answer);

} // namespace driver
