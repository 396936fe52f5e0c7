// Tensor types that a text leaves partly open: `f32[.., n]`, `_[n]`.
#pragma once

#include "lang/ir/expr.h"
#include "typecheck/unify.h"

#include <span>
#include <string>

namespace typecheck {

/// Whether a type is one of those, where `names` tells what the names of sizes are; sizes that are
/// still unknown come to stand for what fits.
bool fits(const lang::PartialTensor& partial, const Type& type,
          std::span<const std::pair<const Dim*, const Dim*>> names, Unifier& unifier);

/// As the text has it.
std::string partialText(const lang::PartialTensor& partial);

} // namespace typecheck
