// Rounds of a test in a child process with bounds on memory and time, so that a crash is reported
// with the round that caused it, and what comes after is still tried.
#pragma once

#include "tests/fuzz/executables.h"

#include <functional>
#include <string>

namespace fuzz {

/// What became of rounds, all together.
struct Rounds {
  size_t accepted = 0, ran = 0, failures = 0;
};

/// Tries the rounds from `first` on, and tells of a crash.
void tryInChild(const std::string& name, size_t first, size_t count,
                const std::function<Outcome(size_t round)>& tried, Rounds& rounds);

} // namespace fuzz
