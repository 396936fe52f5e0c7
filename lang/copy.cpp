// A copy is a rewriting that changes nothing.
#include "lang/copy.h"

#include "lang/rewrite.h"

namespace lang {

std::unique_ptr<Module> copyModule(const Module& module) {
  // A copy calls no operator by name.
  const OperatorTable none{std::span<const OperatorFamily>{}};
  auto copy = std::make_unique<Module>(module.types);
  Builder make(*copy, none);
  Rewriter(module, make).module();
  return copy;
}

Function* copyFunction(Builder& into, const Function& function, ListOf<Substitution> free) {
  Rewriter rewriter(into.module, into);
  for (const Substitution& each : free)
    rewriter.substitute(*each.var, each.atom);
  return rewriter.function(function);
}

const Block* copyBlock(Builder& into, const Block& block, ListOf<Substitution> free) {
  Rewriter rewriter(into.module, into);
  for (const Substitution& each : free)
    rewriter.substitute(*each.var, each.atom);
  return rewriter.block(block);
}

} // namespace lang
