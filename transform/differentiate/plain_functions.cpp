// Functions of the old code within the new one, where nobody asks for their derivatives.
//
// In differentiated code a function value carries its derivative, so what the old code had is made
// anew from what it is made of: a copy of its literal over what stands for its captures.
//
//   let %a = %x * %x;                          let %a = %x * %x;
//   let %f = fn (%y) { %a * %y };       =>     let %plain = fn (%y) { %a * %y };
//   custom_grad(%f, @back)                     custom_grad(%plain, @back)
#include "lang/ir/copy.h"
#include "lang/ir/differentiable.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "transform/differentiate/translation.h"

#include <unordered_set>

namespace transform {

using namespace lang;

namespace {

/// Whether a call says how its operands, which are functions, are differentiated.
bool givesRule(const OperatorRow& row) {
  return row.derivative == Derivative::Custom || row.derivative == Derivative::CustomTangent;
}

/// Whether derivatives go through the variables of a type as through any other value, or through a
/// cell beside it.
bool isNoFunction(const Type* type) {
  return !type || !holdsFunctions(type) || type->kind == TypeKind::Operator ||
         (type->kind == TypeKind::Reference && !holdsFunctions(type->parts[0]));
}

/// The variables that a binding uses and does not bind, itself left out.
std::vector<const Var*> freeIn(Builder& make, const Binding& root) {
  std::unordered_set<const Expr*> bound;
  std::vector<const Var*> used, free;
  walk(
      *make.block({root}, root.var),
      [&](const Binding& binding) {
        bound.insert(binding.var);
        if (const auto* literal = binding.value->as<Function>())
          bound.insert(literal->parameters.begin(), literal->parameters.end());
        if (const auto* choice = binding.value->as<Match>())
          for (const Arm& arm : choice->arms)
            forEachPatternVar(*arm.pattern, [&](const Var& each) { bound.insert(&each); });
      },
      [&](const Operand& operand) {
        if (const auto* var = operand.value->as<Var>())
          used.push_back(var);
      });
  for (const Var* var : used)
    if (!bound.contains(var))
      free.push_back(var);
  return free;
}

} // namespace

void Translation::countUses(const Expr& value) {
  writesReferences_ |= value.kind == ExprKind::RefWrite;
  const auto* call = value.as<Call>();
  if (!call)
    return;
  ++uses_[call->callee.value].called;
  const OperatorRow* row = rowOf(*call);
  if (row && givesRule(*row))
    for (const Operand& argument : call->arguments)
      ++uses_[argument.value].plain;
}

/// Whether nobody notices when the value of a variable is evaluated once more.
bool Translation::isMadeAgain(const Var& var) const {
  const Effect& effect = effects_.of(var);
  return !effect.isOrdered() && !effect.allocates;
}

Origin Translation::originOf(const Expr& function,
                             const std::function<bool(const Var&)>& isGiven) const {
  struct Frame {
    const Binding* binding;
    std::vector<const Var*> needs;
    size_t next = 0;
  };
  Origin origin;
  std::unordered_set<const Var*> seen;
  std::vector<Frame> path;
  auto enter = [&](const Var* var) {
    if (!var || !seen.insert(var).second)
      return;
    auto definition = definitions_.find(var);
    if (isGiven(*var))
      origin.captured.push_back(var);
    else if (definition != definitions_.end() && isMadeAgain(*var))
      path.push_back({definition->second, freeIn(make, *definition->second)});
    else
      origin.unknown = var;
  };
  enter(function.as<Var>());
  while (!path.empty()) {
    Frame& frame = path.back();
    if (frame.next < frame.needs.size()) {
      enter(frame.needs[frame.next++]);
      continue;
    }
    origin.made.push_back(frame.binding);
    path.pop_back();
  }
  return origin;
}

Origin Translation::deepOriginOf(const Expr& function) const {
  return originOf(function, [&](const Var& var) { return isNoFunction(typing.of(var)); });
}

bool Translation::canMakeAgain(const Expr& function) const {
  return !deepOriginOf(function).unknown;
}

/// Whether the new code has a variable in its old form: it holds no functions, or it comes from
/// outside of the function at hand.
bool Translation::isGivenPlain(const Var& var) const {
  return isNoFunction(typing.of(var)) || !isKnown(var) || outside_.contains(&var);
}

Origin Translation::originOf(const Expr& function) const {
  return originOf(function, [&](const Var& var) { return isGivenPlain(var); });
}

Atom Translation::givenPlain(const Var& var, BlockBuilder& out) {
  const Type* type = typing.of(var);
  if (auto found = outside_.find(&var); found != outside_.end())
    return found->second;
  if (!isKnown(var)) {
    auto primal = primal_.find(&var);
    return primal == primal_.end() ? &var : primal->second;
  }
  bool isPair = type->kind == TypeKind::Reference && holdsFloats(type->parts[0]);
  return isPair ? Atom(out.project(mapped(var), 0)) : mapped(var);
}

Atom Translation::plain(const Expr& atom, BlockBuilder& out) {
  if (!atom.as<Var>())
    return &atom;
  Origin origin = originOf(atom);
  if (origin.unknown)
    return nullptr;
  std::vector<Substitution> forms;
  for (const Var* var : origin.captured)
    forms.push_back({var, givenPlain(*var, out)});
  for (const Binding* binding : origin.made) {
    const Block* copied = copyBlock(make, *make.block({*binding}, binding->var), forms);
    out.append(copied->bindings[0]);
    forms.push_back({binding->var, copied->result.value});
  }
  return forms.back().atom;
}

bool Translation::isOnlyPlain(const Var& var) const {
  auto found = uses_.find(&var);
  return found == uses_.end() ||
         (found->second.plain == found->second.all && !originOf(var).unknown);
}

bool Translation::isPassedOn(const Var& var) const {
  auto found = uses_.find(&var);
  return found != uses_.end() && found->second.called < found->second.all;
}

const Call* Translation::ruleOf(const Expr& atom) const {
  auto found = definitions_.find(atom.as<Var>());
  const Call* call = found == definitions_.end() ? nullptr : found->second->value->as<Call>();
  const OperatorRow* row = call ? rowOf(*call) : nullptr;
  bool isRule = row && (givesRule(*row) || row->derivative == Derivative::Checkpoint);
  return isRule ? call : nullptr;
}

} // namespace transform
