// Lambda lifting: local functions that are only called become globals, with what they capture as
// parameters.
//
//   def @main(%n: int32, %step: int32) {        def @main(%n: int32, %step: int32) {
//     let %loop = fn (%i: int32) -> int32 {       @main_loop(%n, %step)
//       if (%i < 0) { 0 }                       }
//       else { %loop(%i - %step) }         =>   def @main_loop(%i: int32, %step: int32) -> int32 {
//     };                                          if (%i < 0) { 0 }
//     %loop(%n)                                   else { @main_loop(%i - %step, %step) }
//   }                                           }
//
// A function that is used as a value is a closure and stays. So does one with attributes, which are
// for whoever compiles it as one piece, and one whose captured values have types that no parameter
// could declare.
//
// A function that calls another one which becomes a global needs what that one captures too. Both
// see the other's name only after its binding, or inside of it, so one pass in order finds all.
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/types/type_text.h"
#include "transform/analysis/global_names.h"
#include "transform/analysis/placement.h"
#include "transform/analysis/type_parts.h"
#include "transform/passes.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

/// Functions that call each other in a chain capture what all before them do.
constexpr size_t mostCaptured = 64;

/// A function that becomes a global.
struct Lifted {
  const Global* around;
  const Binding* binding;
  /// What it captures, in the old code.
  std::vector<const Var*> captured = {};
  /// The names of captured values inside, and what is copied: the function with more parameters.
  std::vector<Binding> prefix = {};
  const Function* function = nullptr;
  Global* made = nullptr;

  const Function& literal() const { return static_cast<const Function&>(*binding->value); }
};

class LiftingPlan {
public:
  LiftingPlan(const Module& module, const Typing& typing)
      : typing_(typing), free_(freeVariables(module)), varCount_(module.varCount) {
    findValues(module);
    for (const Global* global : module.globals)
      if (global->function)
        walk(
            *global->function->body, [&](const Binding& binding) { decide(*global, binding); },
            [](const Operand&) {});
  }

  Lifted* of(const Expr& atom) {
    const auto* var = atom.as<Var>();
    auto found = var ? lifted_.find(var) : lifted_.end();
    return found == lifted_.end() ? nullptr : &found->second;
  }
  bool isParameterOfLifted(const Var& var) const { return var.number >= firstVar(); }
  Arena& arena() { return arena_; }

private:
  uint32_t firstVar() const { return uint32_t(arity_.size()); }

  /// Notes how literals are used: called with their number of arguments, or otherwise.
  void findValues(const Module& module) {
    arity_.assign(module.varCount, notCalled);
    isValue_.assign(module.varCount, false);
    auto asValue = [&](const Expr& atom) {
      if (const auto* var = atom.as<Var>())
        isValue_[var->number] = true;
    };
    const Expr* callee = nullptr;
    walk(
        module,
        [&](const Binding& binding) {
          forEachAttributeAtom(*binding.value, asValue);
          const auto* call = binding.value->as<Call>();
          callee = call ? call->callee.value : nullptr;
          if (const auto* var = callee ? callee->as<Var>() : nullptr) {
            size_t& arity = arity_[var->number];
            isValue_[var->number] =
                isValue_[var->number] || (arity != notCalled && arity != call->arguments.size());
            arity = call->arguments.size();
          }
        },
        [&](const Operand& operand) {
          // The callee is the first operand of its call.
          if (operand.value == callee)
            callee = nullptr;
          else
            asValue(*operand.value);
        });
  }

  void decide(const Global& around, const Binding& binding) {
    const auto* literal = binding.value->as<Function>();
    uint32_t number = binding.var->number;
    if (!literal || isValue_[number] || arity_[number] != literal->parameters.size() ||
        !literal->attributes.empty())
      return;
    Lifted lifted{&around, &binding};
    std::unordered_set<const Var*> seen{binding.var};
    auto capture = [&](const Var* var) {
      if (seen.insert(var).second)
        lifted.captured.push_back(var);
    };
    for (const Var* var : free_.of[literal->number]) {
      if (const Lifted* other = of(*var); other && seen.insert(var).second)
        std::ranges::for_each(other->captured, capture);
      else
        capture(var);
    }
    if (lifted.captured.size() <= mostCaptured && write(lifted))
      lifted_.emplace(binding.var, std::move(lifted));
  }

  /// Writes the function with its new parameters; false when its type cannot be declared.
  bool write(Lifted& lifted) {
    const Function& literal = lifted.literal();
    std::vector<const Var*> parameters(literal.parameters.begin(), literal.parameters.end());
    for (const Var* var : lifted.captured) {
      Expr base{ExprKind::Var, var->range};
      parameters.push_back(arena_.make<Var>(base, var->name.empty() ? "v" : var->name,
                                            VarOrigin::Parameter, varCount_++, typing_.of(*var)));
      lifted.prefix.push_back({var, parameters.back(), var->range});
    }
    TypeNames told;
    for (const Var* parameter : parameters) {
      if (!parameter->annotation || !facts_.isShown(parameter->annotation))
        return false;
      told.add(parameter->annotation);
    }
    if (!isTold(literal, told))
      return false;
    Function* function = arena_.make<Function>(literal);
    function->parameters = arena_.copy(parameters);
    function->generics = arena_.copy(generics(literal, parameters));
    lifted.function = function;
    return true;
  }

  /// Whether arguments tell all sizes in the type, and the type parameters of functions around.
  static bool isTold(const Function& literal, const TypeNames& told) {
    TypeNames result;
    result.add(literal.resultAnnotation);
    auto own = [&](const TypeParameter* parameter) {
      return std::ranges::count(literal.generics, parameter) > 0;
    };
    auto isExtent = [&](const Dim* dim) { return told.extents.contains(dim); };
    auto isDeclared = [&](const Dim* dim) { return !dim->parameter || told.dims.contains(dim); };
    auto isKnown = [&](const TypeParameter* parameter) {
      return told.parameters.contains(parameter) || own(parameter);
    };
    std::optional<TypeNames> inside = declaredNames(literal, [](const Type* type) { return type; });
    return std::ranges::all_of(told.dims, isExtent) && std::ranges::all_of(result.dims, isExtent) &&
           std::ranges::all_of(inside->dims, isDeclared) &&
           std::ranges::all_of(inside->parameters, isKnown);
  }

  /// Those of the literal, then those of functions around it that its parameters mention.
  std::vector<const TypeParameter*> generics(const Function& literal,
                                             std::span<const Var* const> parameters) const {
    std::vector<const TypeParameter*> list(literal.generics.begin(), literal.generics.end());
    auto add = [&](const TypeParameter* parameter) {
      if (parameter && std::ranges::count(list, parameter) == 0)
        list.push_back(parameter);
    };
    for (const Var* parameter : parameters) {
      TypeNames names;
      names.add(parameter->annotation);
      for (const TypeParameter* each : inOrder(names.parameters))
        add(each);
      for (const Dim* dim : inOrder(names.dims))
        add(dim->parameter);
    }
    return list;
  }

  /// By name, so that the result does not hang on addresses.
  template <typename T>
  static std::vector<T> inOrder(const std::unordered_set<T>& set) {
    std::vector<T> list(set.begin(), set.end());
    std::ranges::sort(list, {}, [](T each) { return each->name; });
    return list;
  }

  static constexpr size_t notCalled = SIZE_MAX;

  const Typing& typing_;
  FreeVariables free_;
  Arena arena_;
  printing::TypeFacts facts_;
  uint32_t varCount_;
  /// By Var::number: how many arguments calls have, and whether it is used otherwise.
  std::vector<size_t> arity_;
  std::vector<bool> isValue_;
  std::unordered_map<const Var*, Lifted> lifted_;
};

class Lifter : public Rewriter {
public:
  Lifter(const Module& from, Builder& into, const Typing& typing)
      : Rewriter(from, into), plan_(from, typing), names_(into.module) {}

  /// Writes the globals that were asked for, and those that they ask for.
  void finish() {
    for (size_t i = 0; i < open_.size(); ++i) {
      lifted_ = open_[i];
      make.define(lifted_->made, function(*lifted_->function));
    }
  }

private:
  std::span<const Binding> bindingsOf(const Block& block) override {
    std::vector<Binding> list;
    bool isRoot = lifted_ && &block == lifted_->function->body;
    if (isRoot)
      list = lifted_->prefix;
    for (const Binding& binding : block.bindings)
      list.push_back({binding.var, called(*binding.value), binding.place});
    return plan_.arena().copy(list);
  }

  /// A call of a function that is a global now; other values stay.
  const Expr* called(const Expr& value) {
    const auto* call = value.as<Call>();
    Lifted* callee = call ? plan_.of(*call->callee.value) : nullptr;
    if (!callee)
      return &value;
    std::vector<Operand> arguments(call->arguments.begin(), call->arguments.end());
    for (const Var* var : callee->captured)
      arguments.push_back({var, call->range});
    Call* made = plan_.arena().make<Call>(*call);
    made->callee.value = globalOf(*callee);
    made->arguments = plan_.arena().copy(arguments);
    return made;
  }

  const Global* globalOf(Lifted& lifted) {
    if (lifted.made)
      return lifted.made;
    std::string_view own = lifted.binding->var->name;
    std::string stem = fmt::format("{}_{}", lifted.around->name, own.empty() ? "fn" : own);
    lifted.made = make.declare(names_.fresh(stem));
    made_.insert(lifted.made);
    open_.push_back(&lifted);
    return lifted.made;
  }

  Fate enter(const Binding& binding) override {
    return plan_.of(*binding.var) ? Fate::Drop : Fate::Copy;
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    const auto* var = old.value->as<Var>();
    bool isName = var && plan_.isParameterOfLifted(*var);
    return isName ? value : Rewriter::bind(old, value, out);
  }

  Atom atom(const Expr& old) override { return made_.contains(&old) ? &old : Rewriter::atom(old); }

  LiftingPlan plan_;
  GlobalNames names_;
  std::unordered_set<const Expr*> made_;
  std::vector<const Lifted*> open_;
  const Lifted* lifted_ = nullptr;
};

bool hasLiterals(const Module& module) {
  bool has = false;
  walk(
      module, [&](const Binding& binding) { has |= binding.value->kind == ExprKind::Function; },
      [](const Operand&) {});
  return has;
}

} // namespace

std::unique_ptr<Module> lambdaLifting(const Module& module, const PassContext& context) {
  if (!hasLiterals(module))
    return nullptr;
  Module lifted(module.types);
  Builder make(lifted, context.operators);
  Lifter lifter(module, make, context.typing);
  lifter.module();
  lifter.finish();
  return place(lifted, context.operators);
}

} // namespace transform
