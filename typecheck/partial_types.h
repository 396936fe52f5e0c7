// Tensor types that a text leaves partly open: `f32[.., n]`, `_[n]`.
#pragma once

#include "lang/ir/expr.h"
#include "lang/source/diagnostic.h"
#include "typecheck/unify.h"

#include <span>
#include <string>

namespace typecheck {

/// Whether a type is one of those, where `names` tells what the names of sizes are; sizes that are
/// still unknown come to stand for what fits.
bool fits(const lang::PartialTensor& partial, const Type& type,
          std::span<const std::pair<const Dim*, const Dim*>> names, Unifier& unifier);

/// A size as it is declared, and what it is at a call.
struct ToldSize {
  const Dim* declared;
  const Dim* known;
};

/// The named sizes in which a type differs from such a one.
std::vector<ToldSize> clashes(const lang::PartialTensor& partial, const Type& type,
                              std::span<const std::pair<const Dim*, const Dim*>> names,
                              Unifier& unifier);

/// Says of argument `i`, which has another size, that the others told it, and which one.
void tellSize(lang::Diagnostic& report, const lang::Function& function,
              std::span<const lang::Operand> arguments, size_t i, ToldSize size, Unifier& unifier);

/// As the text has it.
std::string partialText(const lang::PartialTensor& partial);

} // namespace typecheck
