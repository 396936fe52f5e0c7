// A copy is a rewriting that changes nothing.
#include "lang/ir/copy.h"

#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "lang/types/type_text.h"

#include <algorithm>
#include <unordered_set>

namespace lang {

namespace {

/// Whether who knows the type knows what the parameter stands for.
bool mentions(const Type* root, const TypeParameter* parameter) {
  std::vector<const Type*> stack{root};
  std::unordered_set<const Type*> seen;
  while (!stack.empty()) {
    const Type* type = stack.back();
    stack.pop_back();
    if (!type || !seen.insert(type).second)
      continue;
    if (type->parameter == parameter || std::ranges::any_of(type->shape, [&](const Dim* dim) {
          return dim->parameter == parameter;
        }))
      return true;
    stack.insert(stack.end(), type->parts.begin(), type->parts.end());
    stack.push_back(type->result);
  }
  return false;
}

/// Whether the type of a value follows from the value alone, given those of all variables. That of
/// `Nil` comes from what is done with it, and would be lost with that.
class SelfTold {
public:
  explicit SelfTold(const Typing& typing) : typing_(typing) {}

  bool operator()(const Expr& value) const {
    if (const auto* call = value.as<Call>())
      return isCallTold(*call);
    if (value.isAtom())
      return isTold(value);
    bool areTold = true;
    if (value.as<TupleExpr>() || value.as<RefNew>())
      forEachOperand(value, [&](const Operand& part) { areTold &= isTold(*part.value); });
    else if (!value.as<Function>())
      forEachBlock(value, [&](const Block& block) { areTold &= isTold(*block.result.value); });
    return areTold;
  }

private:
  /// A constructor without fields says nothing of its data type's parameters; one with fields is a
  /// generic function.
  static bool isTold(const Expr& atom) {
    const auto* constructor = atom.as<Constructor>();
    return !constructor || !constructor->fields.empty() ||
           constructor->definition->generics.empty();
  }
  /// Of what is called.
  std::span<const TypeParameter* const> genericsOf(const Expr& atom) const {
    if (const auto* constructor = atom.as<Constructor>())
      return constructor->definition->generics;
    const auto* global = atom.as<Global>();
    return global && global->function ? typing_.generics(*global->function)
                                      : std::span<const TypeParameter* const>();
  }
  const Type* parameterType(const Expr& callee, size_t index) const {
    if (const auto* constructor = callee.as<Constructor>())
      return constructor->fields[index];
    return typing_.of(*static_cast<const Global&>(callee).function->parameters[index]);
  }
  bool isCallTold(const Call& call) const {
    return std::ranges::all_of(genericsOf(*call.callee.value), [&](const TypeParameter* generic) {
      for (size_t i = 0; i < call.arguments.size(); ++i)
        if (isTold(*call.arguments[i].value) &&
            mentions(parameterType(*call.callee.value, i), generic))
          return true;
      return false;
    });
  }

  const Typing& typing_;
};

/// Declares what a typing says. What was written in full stays as it is: `?` may have weakened what
/// was found of it.
class Declarer : public Rewriter {
public:
  Declarer(const Module& from, Builder& into, const Typing& typing)
      : Rewriter(from, into), typing_(typing), isSelfTold_(typing) {}

protected:
  Fate enter(const Binding& binding) override {
    if (!binding.var->annotation && !isSelfTold_(*binding.value))
      untold_.insert(binding.var);
    return Fate::Copy;
  }
  const Type* declared(const Var& old) override {
    bool isParameter = old.origin == VarOrigin::Parameter || old.origin == VarOrigin::Free;
    return isParameter || untold_.contains(&old) ? fuller(old.annotation, typing_.of(old))
                                                 : old.annotation;
  }
  const Type* declaredResult(const Function& old) override {
    return fuller(old.resultAnnotation, typing_.result(old));
  }
  std::span<const TypeParameter* const> declaredGenerics(const Function& old) override {
    return typing_.generics(old);
  }

private:
  /// Only what a text can say is declared: an operator as a value has a type that none can. Of data
  /// whose arguments are not all known, such as `Nil`, and of tuples, what is known is said.
  const Type* fuller(const Type* written, const Type* found) {
    if (written && !written->hasUnknown)
      return written;
    if (facts_.isShown(found))
      return found;
    return !written && found && (found->isTuple() || found->definition) ? opened(*found) : written;
  }

  const Type* opened(const Type& type) {
    Module& module = make.module;
    std::vector<const Type*> parts;
    for (const Type* part : type.parts)
      parts.push_back(facts_.isShown(part) ? part : module.types.unknown(module.unknownCount++));
    return type.isTuple() ? module.types.tuple(parts) : module.types.data(type.definition, parts);
  }

  const Typing& typing_;
  SelfTold isSelfTold_;
  std::unordered_set<const Var*> untold_;
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
