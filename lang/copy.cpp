// A copy is a rewriting that changes nothing.
#include "lang/copy.h"

#include "lang/print_types.h"
#include "lang/rewrite.h"

namespace lang {

namespace {

/// Declares what a typing says. What was written in full stays as it is: `?` may have weakened what
/// was found of it.
class Declarer : public Rewriter {
public:
  Declarer(const Module& from, Builder& into, const Typing& typing)
      : Rewriter(from, into), typing_(typing) {}

protected:
  const Type* declared(const Var& old) override {
    bool isParameter = old.origin == VarOrigin::Parameter || old.origin == VarOrigin::Free;
    return isParameter ? fuller(old.annotation, typing_.of(old)) : old.annotation;
  }
  const Type* declaredResult(const Function& old) override {
    return fuller(old.resultAnnotation, typing_.result(old));
  }
  std::span<const TypeParameter* const> declaredGenerics(const Function& old) override {
    return typing_.generics(old);
  }

private:
  /// Only what a text can say is declared: an operator as a value has a type that none can.
  const Type* fuller(const Type* written, const Type* found) {
    return facts_.isShown(found) && (!written || written->hasUnknown) ? found : written;
  }

  const Typing& typing_;
  printing::TypeFacts facts_;
};

/// A copy calls no operator by name.
const OperatorTable& noOperators() {
  static const OperatorTable none{std::span<const OperatorFamily>{}};
  return none;
}

} // namespace

std::unique_ptr<Module> copyModule(const Module& module) {
  return rewritten<Rewriter>(module, noOperators());
}

std::unique_ptr<Module> copyDeclared(const Module& module, const Typing& typing) {
  return rewritten<Declarer>(module, noOperators(), typing);
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
