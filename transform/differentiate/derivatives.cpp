// Derivatives written out: calls such as `grad(@f)` become the functions that they stand for.
//
//   def @loss(%w: float32) { %w * %w }          def @loss_grad(%w: float32) -> float32 {
//   def @main(%w: float32) {              =>      add(multiply(1f, %w), multiply(1f, %w))
//     grad(@loss)(%w)                           }
//   }                                           def @main(%w: float32) { @loss_grad(%w) }
//
// Inner derivatives come first, and each round is checked before the next one, so a derivative of a
// derivative is the transformation of a program like any other. Reverse mode is in adjoint.h.
//
// What is computed twice in a derivative is computed four times in the one of it, so between rounds
// all is said as simply as passes can. Derivatives by one number that are in each other are written
// forward, where passes find that most of it was computed for the order before: reverse mode gives
// each order another shape, and its size doubles.
#include "lang/ir/differentiable.h"
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "runtime/budget.h"
#include "runtime/function_ref.h"
#include "transform/analysis/placement.h"
#include "transform/differentiate/carried_values.h"
#include "transform/differentiate/constructor_functions.h"
#include "transform/differentiate/jacobian.h"
#include "transform/differentiate/leaf_starts.h"
#include "transform/differentiate/linearity.h"
#include "transform/differentiate/map_leaves.h"
#include "transform/differentiate/pending_derivatives.h"
#include "transform/differentiate/push_forward.h"
#include "transform/passes.h"
#include "transform/run_passes.h"

#include "lang/ir/copy.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

/// So many rounds may make functions carry derivatives. What carries some that nobody asks for is
/// differentiated too, so where functions go round, and passes do not see that, there is no end.
constexpr size_t mostCarrying = 8;

/// A call that stands for a derivative.
struct Site {
  const Global* around;
  const Binding* binding;
  const Call* call;
  const OperatorRow* row;
  /// Whether it is one of several orders.
  bool hasOrders = false;
};

const OperatorRow* expandedRow(const Expr& value) {
  const auto* call = value.as<Call>();
  const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
  return op && op->row->action == Action::Expand ? op->row : nullptr;
}

using Replacements = std::unordered_map<const Var*, const Expr*>;

/// Copies a module with other values for some bindings.
class Replacer : public Rewriter {
public:
  Replacer(const Module& from, Builder& into, const Replacements& values)
      : Rewriter(from, into), values_(values) {}

private:
  std::span<const Binding> bindingsOf(const Block& block) override {
    auto isReplaced = [&](const Binding& binding) { return values_.contains(binding.var); };
    if (std::ranges::none_of(block.bindings, isReplaced))
      return block.bindings;
    auto& list = lists_.emplace_back(block.bindings.begin(), block.bindings.end());
    for (Binding& binding : list)
      if (isReplaced(binding))
        binding.value = values_.at(binding.var);
    return list;
  }

  const Replacements& values_;
  std::deque<std::vector<Binding>> lists_;
};

/// One round: all derivatives whose functions have none inside.
class Round {
public:
  Round(Module& module, const Typing& typing, const PassContext& context, SymbolicZeros& zeros,
        bool isFirst)
      : module_(module), make_(module, context.operators), names_(module), typing_(typing),
        context_(context), adjoint_(make_, typing, context.findings, zeros),
        pushForward_(make_, typing, context.findings) {
    if (context.keepsSteps) {
      adjoint_.keepSteps();
      pushForward_.keepSteps();
    }
    for (const Global* global : module.globals)
      if (global->function)
        look(*global);
    if (context.keepsSteps)
      return;
    // All are of several orders but those of the first round that no other one differentiates.
    std::unordered_set<const Expr*> seen, inner;
    for (const Site& site : sites_)
      leadsTo(*site.call->arguments[0].value, seen, [&](const Expr& value) {
        if (expandedRow(value))
          inner.insert(&value);
        return false;
      });
    for (Site& site : sites_)
      site.hasOrders = !isFirst || inner.contains(site.call);
  }

  bool hasSites() const { return !sites_.empty(); }
  /// Whether functions only got parameters, which passes would take from them again.
  bool isOfNames() const { return namedCount_ == replaced_.size(); }

  /// Adds the derivatives to the module; false when something stands in the way. Counts the rounds
  /// that make functions carry derivatives.
  bool write(size_t& carrying) {
    for (const Site& site : sites_)
      if (isInnermost(site))
        expand(site);
    if (replaced_.empty() && !context_.findings.hasErrors())
      carryDerivatives();
    if (replaced_.empty() && carried_.empty() && !context_.findings.hasErrors())
      context_.findings.report(Message::UnknownDerivative, sites_[0].call->range,
                               "a function that is made of this derivative");
    carrying += !carried_.empty();
    if (carrying > mostCarrying)
      context_.findings.report(Message::UnknownDerivative, sites_[0].call->range,
                               "a function that is made of ever more derivatives");
    adjoint_.finish();
    pushForward_.finish();
    return !context_.findings.hasErrors();
  }

  /// The module with calls of them.
  std::unique_ptr<Module> finish() {
    for (const auto& [global, function] : carried_)
      global->function = function;
    auto next = rewritten<Replacer>(module_, context_.operators, replaced_);
    auto used = carried_.empty() ? nullptr : findPass("unused-definitions")->run(*next, context_);
    return used ? std::move(used) : std::move(next);
  }

private:
  void look(const Global& global) {
    walk(
        *global.function->body,
        [&](const Binding& binding) {
          definitions_[binding.var] = binding.value;
          if (const OperatorRow* row = expandedRow(*binding.value))
            sites_.push_back({&global, &binding, binding.value->as<Call>(), row});
        },
        [](const Operand&) {});
  }

  /// Derivatives of functions that only a run knows, of one mode: reverse mode first, and other
  /// ones are left for a later round.
  void carryDerivatives() {
    auto isForward = [](const Site& site) { return site.row->derivative == Derivative::Jvp; };
    if (std::ranges::all_of(unknown_, isForward))
      return carryDerivatives(pushForward_);
    std::erase_if(unknown_, isForward);
    carryDerivatives(adjoint_);
  }

  /// The globals around, up to such as take and give no functions, are written with functions that
  /// carry their derivatives.
  template <typename Writer>
  void carryDerivatives(Writer& writer) {
    std::unordered_set<const Call*> asked;
    for (const Site& site : unknown_)
      asked.insert(site.call);
    writer.carryFor(std::move(asked));
    std::unordered_map<const Global*, std::vector<const Global*>> callers;
    std::vector<const Global*> open;
    for (const Site& site : unknown_)
      open.push_back(site.around);
    for (const Global* global : module_.globals)
      if (global->function)
        walk(
            *global->function->body, [](const Binding&) {},
            [&](const Operand& operand) {
              if (const auto* callee = operand.value->as<Global>())
                callers[callee].push_back(global);
            });
    std::unordered_set<const Global*> seen;
    while (!open.empty()) {
      const Global* global = open.back();
      open.pop_back();
      if (!seen.insert(global).second)
        continue;
      if (isFreeOfFunctions(typing_, *global))
        carried_.emplace_back(global, writer.carried(*global));
      else
        open.insert(open.end(), callers[global].begin(), callers[global].end());
    }
    for (size_t i = 0; carried_.empty() && i < unknown_.size(); ++i)
      adjoint_.refuse(unknown_[i].call->range, *unknown_[i].call->arguments[0].value);
  }

  /// What a variable stands for, through other names.
  const Expr* meaning(const Expr* atom) const {
    while (const auto* var = atom->as<Var>()) {
      auto found = definitions_.find(var);
      if (found == definitions_.end())
        return atom;
      if (found->second->kind != ExprKind::Var && found->second->kind != ExprKind::Global)
        return found->second;
      atom = found->second;
    }
    return atom;
  }

  /// Whether a value that answers the question is in what an atom does; `seen` takes what was
  /// looked at, and atoms of `known` are left out.
  template <typename Question>
  bool leadsTo(const Expr& from, std::unordered_set<const Expr*>& seen, const Question& question,
               const std::unordered_set<const Expr*>& known = {}) const {
    std::vector<const Expr*> open{&from};
    bool found = false;
    auto visit = [&](const Expr& value) {
      found |= question(value);
      if (value.isAtom())
        open.push_back(&value);
      forEachOperand(value, [&](const Operand& operand) { open.push_back(operand.value); });
    };
    auto visitBlock = [&](const Block& block) {
      walk(
          block, [&](const Binding& binding) { visit(*binding.value); },
          [&](const Operand& operand) { open.push_back(operand.value); });
    };
    while (!open.empty() && !found) {
      const Expr* atom = open.back();
      open.pop_back();
      if (known.contains(atom) || !seen.insert(atom).second)
        continue;
      if (const auto* global = atom->as<Global>(); global && global->function)
        visitBlock(*global->function->body);
      auto definition = definitions_.find(atom->as<Var>());
      if (definition == definitions_.end())
        continue;
      if (definition->second->isAtom()) {
        open.push_back(definition->second);
        continue;
      }
      if (!seen.insert(definition->second).second)
        continue;
      visit(*definition->second);
      forEachBlock(*definition->second, visitBlock);
    }
    return found;
  }

  /// Whether no other site is in what the function does.
  bool isInnermost(const Site& site) {
    auto isSite = [](const Expr& value) { return expandedRow(value) != nullptr; };
    std::unordered_set<const Expr*> seen;
    bool found = leadsTo(*site.call->arguments[0].value, seen, isSite, withoutSites_);
    if (!found)
      withoutSites_.merge(seen);
    return !found;
  }

  void expand(const Site& site) {
    make_.range = site.call->range;
    if (site.row->derivative == Derivative::Grad && site.call->arguments.size() == 2)
      return expandGradientAt(site);
    const Expr* function = meaning(site.call->arguments[0].value);
    bool isKnown = function->kind == ExprKind::Global || function->kind == ExprKind::Function;
    Derivative derivative = site.row->derivative;
    if (derivative == Derivative::MapLeaves || derivative == Derivative::SumLeaves)
      return site.call->arguments.size() == 1 ? expandStarts(site) : expandLeaves(site, *function);
    if (holdsParameters(typing_.of(*site.binding->var)))
      return adjoint_.refuseGeneric(*site.around);
    switch (derivative) {
    case Derivative::Hvp:
      return expandHvp(site);
    case Derivative::Hessian:
      return expandHessian(site);
    case Derivative::Jacobian:
      return expandJacobian(site);
    case Derivative::Transpose:
      return isKnown ? expandTranspose(site, *function) : nameFunction(site);
    default:
      if (!adjoint_.canDerive(*site.call->arguments[0].value))
        return unknown_.push_back(site);
      return isKnown ? expandKnown(site, *function) : nameFunction(site);
    }
  }

  void expandLeaves(const Site& site, const Expr& function) {
    if (!leafCalls_)
      leafCalls_.emplace(make_, typing_, context_.findings);
    if (const Expr* value = leafCalls_->expand(*site.call, function))
      replaced_[site.binding->var] = value;
  }

  void expandStarts(const Site& site) {
    if (!leafStarts_)
      leafStarts_.emplace(make_, typing_, context_.findings);
    if (const Expr* value = leafStarts_->expand(*site.call))
      replaced_[site.binding->var] = value;
  }

  /// Its types may have been type parameters before, so what is wrong with them shows here.
  void expandGradientAt(const Site& site) {
    const Expr& function = *site.call->arguments[0].value;
    const Type& type = functionType(make_.types, *site.call, typing_);
    const Type &argument = *type.parts[0], &result = *type.result;
    std::string_view problem;
    if (!holdsFloats(&argument) || holdsFunctions(&argument))
      problem = "its argument must hold floats, and no functions and no references";
    else if (!result.isTensor() || !result.dtype.isFloat() || !result.shape.empty())
      problem = "it must give one float";
    if (!problem.empty()) {
      context_.findings.report(Message::WithoutGradient, site.call->range, &type, problem);
      return;
    }
    BlockBuilder block(make_);
    Atom gradient = block.call(rowOf(context_.operators, Derivative::Grad), {&function});
    Atom value = block.call(gradient, {site.call->arguments[1].value});
    replaced_[site.binding->var] = make_.blockExpr(block.finish(value));
  }

  /// `grad(%g)` of a value becomes `grad(fn (%x) { %g(%x) })`.
  void nameFunction(const Site& site) {
    ++namedCount_;
    const Expr& old = *site.call->arguments[0].value;
    const Type* type = typing_.of(old);
    BlockBuilder block(make_), body(make_);
    std::vector<const Var*> parameters = parametersFor(make_, type->parts);
    Atom result = body.call(&old, atomsOf(parameters));
    Atom function = block.bind(make_.function(parameters, body.finish(result)));
    replaced_[site.binding->var] =
        make_.blockExpr(block.finish(block.call(*site.row, {function}, wrtOf(site))));
  }

  Settings wrtOf(const Site& site) {
    settings_.push_back({Setting("wrt", site.call->attributes->get("wrt"))});
    return settings_.back();
  }

  void expandHvp(const Site& site) {
    BlockBuilder block(make_), body(make_);
    Atom gradient = block.call(rowOf(context_.operators, Derivative::Grad),
                               {site.call->arguments[0].value}, wrtOf(site));
    Atom tangent = block.call(rowOf(context_.operators, Derivative::Jvp), {gradient}, wrtOf(site));
    std::vector<const Var*> parameters =
        parametersFor(make_, typing_.of(*site.binding->var)->parts);
    Atom both = body.call(tangent, atomsOf(parameters));
    Atom result = block.bind(make_.function(parameters, body.finish(body.project(both, 1))));
    replaced_[site.binding->var] = make_.blockExpr(block.finish(result));
  }

  void expandHessian(const Site& site) {
    BlockBuilder block(make_);
    Atom gradient = block.call(rowOf(context_.operators, Derivative::Grad),
                               {site.call->arguments[0].value}, wrtOf(site));
    Atom result =
        block.call(rowOf(context_.operators, Derivative::Jacobian), {gradient}, wrtOf(site));
    replaced_[site.binding->var] = make_.blockExpr(block.finish(result));
  }

  /// A linear function has the same pull-back everywhere: its transpose.
  void expandTranspose(const Site& site, const Expr& function) {
    size_t count = typing_.of(*site.binding->var)->parts.size() - 1;
    checkLinear(make_, typing_, context_.findings, function,
                withRespectTo(*site.call, count).parameters);
    BlockBuilder block(make_), body(make_);
    Atom pullBack = block.call(rowOf(context_.operators, Derivative::Vjp),
                               {site.call->arguments[0].value}, wrtOf(site));
    std::vector<const Var*> parameters =
        parametersFor(make_, typing_.of(*site.binding->var)->parts);
    std::vector<Atom> arguments = atomsOf(parameters);
    Atom cotangent = arguments.back();
    arguments.pop_back();
    Atom back = body.project(body.call(pullBack, arguments), 1);
    Atom transpose =
        block.bind(make_.function(parameters, body.finish(body.call(back, {cotangent}))));
    replaced_[site.binding->var] = make_.blockExpr(block.finish(transpose));
  }

  void expandJacobian(const Site& site) {
    std::string_view mode = site.call->attributes->text("mode");
    bool isForward =
        mode == "forward" ||
        (mode == "auto" && hasFewerInputs(make_.types, *site.call, typing_) && !hasPullBack(site));
    replaced_[site.binding->var] = jacobian(make_, typing_, *site.call, isForward);
  }

  /// Whether a pull-back of one's own is in the way, which serves reverse mode only.
  bool hasPullBack(const Site& site) {
    std::unordered_set<const Expr*> seen;
    return leadsTo(*site.call->arguments[0].value, seen, [](const Expr& value) {
      const auto* call = value.as<Call>();
      const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
      return op && op->row->derivative == Derivative::Custom;
    });
  }

  void expandKnown(const Site& site, const Expr& function) {
    const auto* global = function.as<Global>();
    const Function* made = derivativeOf(site, function);
    if (!global) {
      replaced_[site.binding->var] = made;
      return;
    }
    std::string name = fmt::format("{}_{}", global->name, site.row->name);
    replaced_[site.binding->var] = make_.define(names_.fresh(name), made);
  }

  const Function* derivativeOf(const Site& site, const Expr& function) {
    const auto* global = function.as<Global>();
    const Function& known = global ? *global->function : *function.as<Function>();
    WithRespectTo wrt = withRespectTo(*site.call, known.parameters.size());
    if (site.hasOrders && isByOneNumber(known, wrt) && !hasPullBack(site))
      if (site.row->derivative == Derivative::Grad ||
          site.row->derivative == Derivative::ValueAndGrad)
        return forwardGradient(site, function, known, wrt);
    switch (site.row->derivative) {
    case Derivative::Grad:
      return adjoint_.derivative(function, Reverse::Gradient, wrt);
    case Derivative::ValueAndGrad:
      return adjoint_.derivative(function, Reverse::ValueAndGradient, wrt);
    case Derivative::Jvp:
      return pushForward_.derivative(function, wrt);
    default:
      return adjoint_.derivative(function, Reverse::PullBack, wrt);
    }
  }

  bool isByOneNumber(const Function& known, const WithRespectTo& wrt) const {
    const Type* type =
        wrt.parameters.size() == 1 ? typing_.of(*known.parameters[wrt.parameters[0]]) : nullptr;
    return type && !wrt.isTuple && type->isTensor() && type->shape.empty();
  }

  /// The gradient by one number, with the value where it is asked for: the tangent along one.
  const Function* forwardGradient(const Site& site, const Expr& function, const Function& known,
                                  const WithRespectTo& wrt) {
    const Function* pushed = pushForward_.derivative(function, wrt);
    BlockBuilder body(make_);
    std::vector<const Var*> parameters;
    for (const Var* old : known.parameters)
      parameters.push_back(make_.var(VarOrigin::Parameter, old->name, typing_.of(*old)));
    std::vector<Atom> arguments = atomsOf(parameters);
    arguments.push_back(make_.scalar(parameters[wrt.parameters[0]]->annotation->dtype, 1));
    Atom both = body.call(body.bind(pushed), arguments);
    bool isAlone = site.row->derivative == Derivative::Grad;
    return make_.function(parameters, body.finish(isAlone ? body.project(both, 1) : both), nullptr,
                          typing_.generics(known));
  }

  Module& module_;
  Builder make_;
  GlobalNames names_;
  const Typing& typing_;
  const PassContext& context_;
  Adjoint adjoint_;
  PushForward pushForward_;
  std::optional<LeafCalls> leafCalls_;
  std::optional<LeafStarts> leafStarts_;
  std::unordered_map<const Var*, const Expr*> definitions_;
  std::vector<Site> sites_;
  /// Atoms that lead to no site.
  std::unordered_set<const Expr*> withoutSites_;
  /// Those of functions that only a run knows, and the globals that are written anew for them.
  std::vector<Site> unknown_;
  std::vector<std::pair<const Global*, const Function*>> carried_;
  std::deque<std::vector<Setting>> settings_;
  Replacements replaced_;
  size_t namedCount_ = 0;
};

} // namespace

namespace {

constexpr std::string_view passName = "derivatives";

/// What a step inside of the pass gave, with its types.
TypedModule checked(std::string_view step, std::unique_ptr<Module> module,
                    const PassContext& context) {
  Diagnostics diagnostics;
  Typing typing = context.check(*module, diagnostics);
  const std::string label = fmt::format("{}/{}", passName, step);
  if (diagnostics.hasErrors())
    throw PassFault(label,
                    fmt::format("{} gives an ill-typed module: {}", label,
                                diagnostics.all().front().text.plain()),
                    std::move(module));
  if (context.within)
    (*context.within)(label, *module, typing);
  return {std::move(module), std::move(typing)};
}

TypedModule cleaned(const TypedModule& from, const PassContext& context) {
  PassWatch after;
  if (context.within)
    after = [&](std::string_view pass, const Module& module, const Typing& typing) {
      (*context.within)(fmt::format("{}/{}", passName, pass), module, typing);
    };
  TypedModule made = *runPasses(*from.module, from.typing, betweenOrdersPipeline,
                                {.operators = context.operators,
                                 .check = context.check,
                                 .after = std::move(after),
                                 .engine = context.engine,
                                 .entries = context.entries});
  runtime::Budget::begin(passName);
  return made;
}

/// The module with functions in the places of constructors, and with all types declared.
TypedModule started(const Module& module, const PassContext& context) {
  auto current =
      withConstructorFunctions(module, context.typing, context.operators, ConstructorForm::OneType);
  Diagnostics mistakes;
  Typing typing = context.check(*current, mistakes);
  if (mistakes.hasErrors()) {
    current = withConstructorFunctions(module, context.typing, context.operators,
                                       ConstructorForm::Generic);
    mistakes = {};
    typing = context.check(*current, mistakes);
  }
  if (mistakes.hasErrors())
    throw std::logic_error(fmt::format("constructors as functions: {}",
                                       mistakes.all().front().text.plain()));
  return checked("constructors", copyDeclared(*current, typing), context);
}

} // namespace

std::unique_ptr<Module> derivatives(const Module& module, const PassContext& context) {
  TypedModule current = started(module, context);
  bool isClean = true;
  size_t carrying = 0;
  for (size_t number = 1; hasUnwritten(*current.module); ++number) {
    if (!isClean && !context.keepsSteps)
      current = cleaned(current, context);
    SymbolicZeros zeros;
    std::optional<Round> round;
    bool isGood = zeros.writeInto(*current.module, [&] {
      round.emplace(*current.module, current.typing, context, zeros, number == 1);
      return !round->hasSites() || round->write(carrying);
    });
    if (!round->hasSites())
      break;
    if (!isGood)
      return std::move(current.module);
    isClean = round->isOfNames();
    auto next = round->finish();
    round.reset();
    current = checked(fmt::format("round-{}", number), std::move(next), context);
  }
  return place(*current.module, context.operators);
}

} // namespace transform
