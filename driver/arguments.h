// The arguments of the entry function: literals, values from files, seeds of generators, texts, and
// the reproducible fill.
#pragma once

#include "driver/commands.h"
#include "driver/session/session.h"
#include "runtime/value.h"

namespace driver {

/// One value per parameter, or all that stands in the way.
struct Arguments {
  std::vector<runtime::Value> values;
  std::vector<std::string> problems;
  /// What was done to inputs so that they fit.
  std::vector<std::string> notes;
  /// The sizes that are known of names in the types of parameters.
  std::vector<std::pair<const lang::Dim*, int64_t>> sizes = {};
};

/// A parameter that a function had before it became a constant.
struct FixedInput {
  std::string name;
  size_t position;
};

/// Those of a function, and the names of sizes that became numbers with them.
struct FixedInputs {
  std::vector<FixedInput> parameters = {};
  std::vector<std::string> sizes = {};
};

/// Whether any input is given, or is to be filled.
bool givesInputs(const RunOptions& options);

/// Reads the inputs of `options` for a checked function and fills the other parameters by the seed,
/// if there is one; a parameter's number is its position, also among those that are `fixed`, whose
/// inputs are passed over.
Arguments readArguments(const lang::Global& entry, const Program& program, lang::TypeContext& types,
                        const RunOptions& options, const FixedInputs& fixed = {});
/// The same for the parameters that are `wanted` alone, by position; others have no values then.
Arguments readSome(const lang::Global& entry, const Program& program, lang::TypeContext& types,
                   const RunOptions& options, std::vector<bool> wanted);

} // namespace driver
