// Specialisation: a copy of a generic or higher-order definition for each way that it is called.
//
//   def @foldl[A, B](%f: fn (A, B) -> A,         def @foldl_1(%acc: float32, %xs: List[float32],
//                    %acc: A, %xs: List[B])                   %w: float32) -> float32 {
//       -> A {                                     let %f = fn (%a, %x) { %a + %w * %x };
//     match (%xs) {                                match (%xs) {
//       Cons(%x, %rest) =>                           Cons(%x, %rest) =>
//         @foldl(%f, %f(%acc, %x), %rest),   =>        @foldl_1(%f(%acc, %x), %rest, %w),
//       Nil => %acc,                                 Nil => %acc,
//     }                                            }
//   }                                            }
//   def @main(%w: float32, %xs) {                def @main(%w: float32, %xs) {
//     @foldl(fn (%a, %x) { %a + %w * %x },         @foldl_1(0f, %xs, %w)
//            0f, %xs)                            }
//   }
//
// A way to call is what the type parameters stand for, and which functions stand in the places of
// parameters: globals, constructors, and literals in scope, told apart by their text and not by
// what they capture, which is passed along. So a recursion that hands its function on calls itself.
// Where ways do not end, as in polymorphic recursion, the last copy calls the original.
//
// Originals stay, and in generic ones nothing changes. A local function with type parameters that
// is a value becomes a literal of one type that calls it.
#include "transform/passes/specialise.h"

#include "lang/ir/differentiable.h"
#include "lang/ir/walk.h"
#include "transform/analysis/placement.h"
#include "transform/passes/specialise_copies.h"

#include <algorithm>

namespace transform {

using namespace lang;

namespace {

class Specialiser : public Rewriter {
public:
  Specialiser(const Module& from, Builder& into, const PassContext& context, LocalFunctions locals)
      : Rewriter(from, into),
        copies_(from, into, context, locals), original_{Instance(into.types)}, codes_{&original_} {
    for (const Global* global : from.globals)
      if (global->function)
        results_[global->function->body] = context.typing.result(*global->function);
    walk(
        from,
        [&](const Binding& binding) {
          const auto* function = binding.value->as<Function>();
          forEachBlock(*binding.value, [&](const Block& block) {
            results_[&block] =
                function ? context.typing.result(*function) : context.typing.of(*binding.var);
          });
        },
        [](const Operand&) {});
  }

  /// Writes the copies that were asked for, and those that they ask for.
  void finish() {
    while ((copy_ = copies_.next())) {
      codes_ = {&copy_->body};
      make.define(copy_->made, function(*copy_->function));
    }
  }

private:
  const Code& code() const { return *codes_.back(); }

  std::span<const Binding> bindingsOf(const Block& block) override {
    bool isRoot = copy_ && &block == copy_->function->body;
    std::span<const Prefix> prefix = isRoot ? copy_->prefix : std::span<const Prefix>();
    std::vector<Binding> list;
    for (const Prefix& each : prefix)
      list.push_back(each.binding);
    for (const Binding& binding : block.bindings) {
      const Expr* value = copies_.value(binding, code(), list);
      list.push_back({binding.var, value, binding.place});
    }
    std::span<const Binding> kept = copies_.arena().copy(list);
    for (size_t i = 0; i < prefix.size(); ++i)
      prefix_[&kept[i]] = prefix[i].code;
    return kept;
  }

  /// The code of a literal in front of the body, else null.
  const Code* codeOf(const Binding& binding) const {
    auto found = prefix_.find(&binding);
    return found == prefix_.end() ? nullptr : found->second;
  }

  Fate enter(const Binding& binding) override {
    if (const Code* code = codeOf(binding))
      codes_.push_back(code);
    return Fate::Copy;
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    if (codeOf(old))
      codes_.pop_back();
    else if (prefix_.contains(&old))
      return value;
    return Rewriter::bind(old, value, out);
  }

  Atom resultOf(const Block& block) override {
    const Expr& old = *block.result.value;
    auto found = results_.find(&block);
    const Type* type = found == results_.end() ? nullptr : found->second;
    return atom(old.kind == ExprKind::Global && type ? *copies_.result(old, type, code()) : old);
  }

  Atom atom(const Expr& old) override { return copies_.isCopy(old) ? &old : Rewriter::atom(old); }

  const Type* declared(const Var& old) override {
    // What holds generic functions was found to by those that are instances now.
    if (old.origin == VarOrigin::Temporary && old.annotation && holdsGeneric(old.annotation))
      return nullptr;
    bool isFinal = !copy_ || copies_.isOfCopy(old);
    return isFinal ? old.annotation : copies_.shown(old.annotation, code());
  }
  const Type* declaredResult(const Function& old) override {
    bool isFinal = !copy_ || &old == copy_->function;
    return isFinal ? old.resultAnnotation : copies_.shown(old.resultAnnotation, code());
  }

  /// The types of what blocks give.
  std::unordered_map<const Block*, const Type*> results_;
  Copies copies_;
  Code original_;
  std::vector<const Code*> codes_;
  const Copy* copy_ = nullptr;
  std::unordered_map<const Binding*, const Code*> prefix_;
};

/// Whether a function may be called in several ways: it is generic or takes functions.
bool hasWays(const Module& module, const Typing& typing) {
  auto isOne = [&](const Function& function) {
    return !typing.generics(function).empty() ||
           std::ranges::any_of(function.parameters, [&](const Var* parameter) {
             const Type* type = typing.of(*parameter);
             return !type || holdsFunctions(type);
           });
  };
  bool found = std::ranges::any_of(module.globals, [&](const Global* global) {
    return global->function && isOne(*global->function);
  });
  auto visit = [&](const Binding& binding) {
    const auto* literal = binding.value->as<Function>();
    found = found || (literal && isOne(*literal));
  };
  if (!found)
    walk(module, visit, [](const Operand&) {});
  return found;
}

std::unique_ptr<Module> specialised(const Module& module, const PassContext& context,
                                    LocalFunctions locals) {
  if (!hasWays(module, context.typing))
    return nullptr;
  Module copy(module.types);
  Builder make(copy, context.operators);
  Specialiser specialiser(module, make, context, locals);
  specialiser.module();
  specialiser.finish();
  return place(copy, context.operators, {.keepsFaults = true});
}

} // namespace

std::unique_ptr<Module> specialise(const Module& module, const PassContext& context) {
  return specialised(module, context, LocalFunctions::OneType);
}

std::unique_ptr<Module> specialiseGlobals(const Module& module, const PassContext& context) {
  return specialised(module, context, LocalFunctions::AsTheyAre);
}

} // namespace transform
