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

/// The parameters that a function had before some of them became constants.
struct FixedInput {
  std::string name;
  size_t position;
};

/// Whether any input is given, or is to be filled.
bool givesInputs(const RunOptions& options);

/// Reads the inputs of `options` for a checked function and fills the other parameters by the seed,
/// if there is one; a parameter's number is its position, also among those that are `fixed`, whose
/// inputs are passed over.
Arguments readArguments(const lang::Global& entry, const lang::Typing& typing,
                        lang::TypeContext& types, const RunOptions& options,
                        std::span<const FixedInput> fixed = {});
/// The same for the parameters that are `wanted` alone, by position; others have no values then.
Arguments readSome(const lang::Global& entry, const lang::Typing& typing, lang::TypeContext& types,
                   const RunOptions& options, std::vector<bool> wanted);

} // namespace driver
