// What calls of a timed run took, as a text.
#pragma once

#include "driver/session/answer.h"
#include "driver/session/options.h"
#include "vm/bytecode/run.h"

namespace driver {

/// Tells median, least and spread of all calls but the first one, which makes code too; as JSON
/// where the options want that.
void giveTiming(const bytecode::Repetition& repetition, const RunOptions& options, Answer& answer);

} // namespace driver
