// What products are compiled for, by the names that people say.
#pragma once

#include "codegen/llvm/processor.h"

#include <vector>

namespace driver {

struct Target {
  /// As files name it: `x86-64-v3`, `aarch64`.
  std::string name;
  codegen::Processor processor;
};

/// The targets of names, each once, in their order; or which of them there is not.
runtime::Result<std::vector<Target>> targetsNamed(const std::vector<std::string>& names);

/// The best target for the processor at hand.
Target ownTarget();
/// Whether code for targets can stand in one module.
bool areOfOneFamily(const std::vector<Target>& targets);

} // namespace driver
