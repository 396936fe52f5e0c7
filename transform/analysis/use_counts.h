// How often variables are used: in the text, and by a run.
#pragma once

#include "lang/ir/module.h"

namespace transform {

/// By Var::number.
struct UseCounts {
  /// How often a run of the code around the variable uses it at most; a use in a function literal,
  /// which may be called often, counts twice.
  std::vector<uint32_t> uses;
  /// How often the text mentions it; what stands in attributes counts twice.
  std::vector<uint32_t> mentions;
};

UseCounts countUses(const lang::Module& module);

} // namespace transform
