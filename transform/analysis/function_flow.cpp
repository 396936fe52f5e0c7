// Classes by union-find; then what is differentiated spreads from functions to those that they
// call.
#include "transform/analysis/function_flow.h"

#include "lang/ir/differentiable.h"
#include "lang/ir/walk.h"
#include "lang/op/op.h"

namespace transform {

using namespace lang;

FunctionFlow::FunctionFlow(const Module& module, const Typing& typing,
                           std::unordered_set<const Call*> asked)
    : typing_(typing), asked_(std::move(asked)) {
  for (const Global* global : module.globals)
    if (global->function)
      open_.push_back(global->function);
  while (!open_.empty()) {
    const Function& function = *open_.back();
    open_.pop_back();
    look(function);
  }
  spread();
}

FunctionFlow::Class FunctionFlow::fresh() {
  classes_.push_back({classes_.size()});
  return classes_.back().parent;
}

FunctionFlow::Class FunctionFlow::find(Class values) {
  while (classes_[values].parent != values) {
    Class& parent = classes_[values].parent;
    parent = classes_[parent].parent;
    values = parent;
  }
  return values;
}

void FunctionFlow::unify(Class left, Class right) {
  std::vector<std::pair<Class, Class>> open{{left, right}};
  while (!open.empty()) {
    Class into = find(open.back().first), gone = find(open.back().second);
    open.pop_back();
    if (into == gone)
      continue;
    Values &kept = classes_[into], &more = classes_[gone];
    more.parent = into;
    kept.functions.insert(kept.functions.end(), more.functions.begin(), more.functions.end());
    kept.derivatives.insert(kept.derivatives.end(), more.derivatives.begin(),
                            more.derivatives.end());
    kept.isDifferentiated |= more.isDifferentiated;
    size_t common = std::min(kept.parameters.size(), more.parameters.size());
    for (size_t i = 0; i < common; ++i)
      open.emplace_back(kept.parameters[i], more.parameters[i]);
    kept.parameters.insert(kept.parameters.end(), more.parameters.begin() + ptrdiff_t(common),
                           more.parameters.end());
    if (kept.result && more.result)
      open.emplace_back(*kept.result, *more.result);
    else if (more.result)
      kept.result = more.result;
  }
}

FunctionFlow::Class FunctionFlow::ofFunction(const Function& function) {
  auto [known, isNew] = ofFunctions_.try_emplace(&function);
  if (!isNew)
    return known->second;
  known->second = fresh();
  for (const Var* parameter : function.parameters) {
    Class values = of(*parameter);
    classes_[ofFunctions_[&function]].parameters.push_back(values);
  }
  Class values = fresh(), made = ofFunctions_[&function];
  classes_[made].result = values;
  classes_[made].functions = {&function};
  return made;
}

bool FunctionFlow::takesFunctions(const Function& function) const {
  const Type* result = typing_.result(function);
  return !result || holdsFunctions(result) ||
         std::ranges::any_of(function.parameters,
                             [&](const Var* parameter) { return mayHold(*parameter); });
}

/// A function through which no others pass: those who mention it have no more in common by it.
FunctionFlow::Class FunctionFlow::ofMention(const Function& function) {
  Class made = fresh();
  classes_[made].functions = {&function};
  return made;
}

/// A constructor as a function holds what it is given.
FunctionFlow::Class FunctionFlow::ofConstructor() {
  Class made = fresh();
  classes_[made].result = made;
  return made;
}

FunctionFlow::Class FunctionFlow::of(const Expr& atom) {
  if (const auto* global = atom.as<Global>(); global && global->function)
    return takesFunctions(*global->function) ? ofFunction(*global->function)
                                             : ofMention(*global->function);
  if (atom.kind == ExprKind::Constructor)
    return ofConstructor();
  auto [known, isNew] = ofVars_.try_emplace(&atom);
  if (isNew)
    known->second = fresh();
  return known->second;
}

FunctionFlow::Class FunctionFlow::parameter(Class callee, size_t number) {
  callee = find(callee);
  while (classes_[callee].parameters.size() <= number) {
    Class made = fresh();
    classes_[callee].parameters.push_back(made);
  }
  return classes_[callee].parameters[number];
}

FunctionFlow::Class FunctionFlow::result(Class callee) {
  callee = find(callee);
  if (!classes_[callee].result) {
    Class made = fresh();
    classes_[callee].result = made;
  }
  return *classes_[callee].result;
}

bool FunctionFlow::mayHold(const Expr& atom) const {
  if (const auto* var = atom.as<Var>()) {
    const Type* type = typing_.of(*var);
    return !type || holdsFunctions(type);
  }
  return atom.kind == ExprKind::Global || atom.kind == ExprKind::Constructor;
}

void FunctionFlow::join(const Expr& left, const Expr& right) {
  if (mayHold(left) && mayHold(right))
    unify(of(left), of(right));
}

void FunctionFlow::joinWith(Class values, const Expr& atom) {
  if (mayHold(atom))
    unify(values, of(atom));
}

/// The body of a function without those of the literals inside.
void FunctionFlow::look(const Function& function) {
  joinWith(result(ofFunction(function)), *function.body->result.value);
  std::vector<const Block*> open{function.body};
  while (!open.empty()) {
    const Block& block = *open.back();
    open.pop_back();
    for (const Binding& binding : block.bindings) {
      look(binding, function);
      if (const auto* literal = binding.value->as<Function>())
        open_.push_back(literal);
      else
        forEachBlock(*binding.value, [&](const Block& part) { open.push_back(&part); });
    }
  }
}

void FunctionFlow::look(const Binding& binding, const Function& around) {
  const Expr& value = *binding.value;
  const Var& var = *binding.var;
  if (value.isAtom())
    return join(var, value);
  if (const auto* literal = value.as<Function>())
    return unify(of(var), ofFunction(*literal));
  if (const auto* call = value.as<Call>())
    return lookAtCall(binding, *call, around);
  if (const auto* choice = value.as<Match>())
    for (const Arm& arm : choice->arms)
      forEachPatternVar(*arm.pattern,
                        [&](const Var& held) { join(held, *choice->scrutinee.value); });
  forEachBlock(value, [&](const Block& block) { join(var, *block.result.value); });
  if (const auto* write = value.as<RefWrite>())
    return join(*write->reference.value, *write->value.value);
  if (value.kind != ExprKind::If && value.kind != ExprKind::Match)
    forEachOperand(value, [&](const Operand& operand) { join(var, *operand.value); });
}

void FunctionFlow::lookAtCall(const Binding& binding, const Call& call, const Function& around) {
  const Expr& callee = *call.callee.value;
  if (const auto* op = callee.as<OperatorRef>())
    return lookAtOperator(binding, call, *op->row, around);
  if (!mayHold(callee))
    return;
  Class called = of(callee);
  callees_[&around].push_back(called);
  for (size_t i = 0; i < call.arguments.size(); ++i)
    joinWith(callee.kind == ExprKind::Constructor ? result(called) : parameter(called, i),
             *call.arguments[i].value);
  joinWith(result(called), *binding.var);
}

/// What operators give of functions is the functions that they got. A derivative is a function of
/// its own, which may give another one.
void FunctionFlow::lookAtOperator(const Binding& binding, const Call& call, const OperatorRow& row,
                                  const Function& around) {
  if (row.action == Action::Expand) {
    classes_[find(of(*call.arguments[0].value))].isDifferentiated |= isAsked(call);
    Class made = of(*binding.var);
    classes_[find(made)].derivatives.push_back(&call);
    return unify(result(made), made);
  }
  for (const Operand& argument : call.arguments)
    join(*binding.var, *argument.value);
  if (row.action != Action::Call && row.action != Action::CallInto)
    return;
  Class called = of(*call.arguments[0].value);
  callees_[&around].push_back(called);
  const Type* given = typing_.of(*call.arguments[1].value);
  for (size_t i = 0; given && i < given->parts.size(); ++i)
    unify(parameter(called, i), called);
  unify(result(called), called);
}

void FunctionFlow::spread() {
  std::vector<Class> open;
  for (Class each = 0; each < classes_.size(); ++each)
    if (find(each) == each && classes_[each].isDifferentiated)
      open.push_back(each);
  std::unordered_set<Class> seen(open.begin(), open.end());
  while (!open.empty()) {
    Class values = open.back();
    open.pop_back();
    const Values& held = classes_[values];
    differentiatedTwice_.insert(held.derivatives.begin(), held.derivatives.end());
    for (const Function* function : held.functions) {
      differentiated_.insert(function);
      for (Class callee : callees_[function])
        if (Class next = find(callee); seen.insert(next).second)
          open.push_back(next);
    }
  }
}

} // namespace transform
