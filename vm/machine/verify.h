// Whether a program can be run: what the machine takes for granted, proved before it starts.
//
// Every register is followed along all ways through a function: whether it holds a scalar, owns a
// reference, or borrows one, and from which register. So no reference is used after it was given
// up, given up twice, or forgotten. What an object is, no register tells: that is compared as the
// program runs, layout by layout.
#pragma once

#include "vm/machine/program.h"

#include <optional>
#include <string>

namespace vm {

/// What is wrong with a program.
struct Unsound {
  const char* problem;
  /// The function that it is in, and the place there; null when it is in a table.
  const Function* function = nullptr;
  size_t place = 0;
};

/// Nothing when the program may run.
std::optional<Unsound> findUnsound(const Program& program);

/// The same as a sentence.
std::optional<std::string> verify(const Program& program);

} // namespace vm
