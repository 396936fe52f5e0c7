// What calls of a timed run took, as a text.
#pragma once

#include "driver/session/options.h"
#include "vm/bytecode/run.h"

namespace driver {

/// Median, least and spread of all calls but the first one, which makes code too; as JSON where the
/// options want that.
std::string timingText(const bytecode::Repetition& repetition, const RunOptions& options);

} // namespace driver
