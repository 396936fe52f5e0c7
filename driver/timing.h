// What calls of a timed run took, as a text.
#pragma once

#include "driver/session/answer.h"
#include "driver/session/options.h"
#include "vm/bytecode/run.h"

namespace driver {

using PlaceOf = std::function<std::string(runtime::SourceRange)>;

/// Tells median, least and spread of the calls behind a warm-up, in which code is made, and what
/// kernels took beside what this machine can do, which is measured now; as JSON where the options
/// want that.
void giveTiming(const bytecode::Repetition& repetition, const PlaceOf& place,
                const RunOptions& options, Answer& answer);

} // namespace driver
