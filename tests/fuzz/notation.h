// What must hold of every text in Baton's notation, good or bad.
#pragma once

#include "tests/fuzz/executables.h"

#include <string>

namespace fuzz {

/// Checks, prints in both notations, reads what was printed, and runs within limits. A promise that
/// is broken is told on standard output with the text, and ends the process.
Outcome readNotation(const std::string& text);

} // namespace fuzz
