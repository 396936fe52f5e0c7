// The arguments of the entry function: literals, values from files, seeds of generators, texts, and
// the reproducible fill.
#pragma once

#include "driver/commands.h"
#include "lang/ir/typing.h"
#include "runtime/value.h"

namespace driver {

/// One value per parameter, or all that stands in the way.
struct Arguments {
  std::vector<runtime::Value> values;
  std::vector<std::string> problems;
  /// What was done to inputs so that they fit.
  std::vector<std::string> notes;
};

/// Reads the inputs of `options` for a checked function and fills the other parameters by the seed,
/// if there is one; a parameter's number is its position.
Arguments readArguments(const lang::Global& entry, const lang::Typing& typing,
                        lang::TypeContext& types, const RunOptions& options);

} // namespace driver
