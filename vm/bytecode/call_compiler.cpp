// Calls: of functions, through a window of registers, and of operators, as scalar code or by the
// host.
#include "vm/bytecode/passing.h"
#include "vm/bytecode/type_arguments.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

void FunctionCompiler::call(Scope& scope, const Binding& binding, const Call& call, bool isLast) {
  if (const auto* op = call.callee.value->as<OperatorRef>())
    return callOperator(scope, binding, call, *op->row);
  if (const auto* constructor = call.callee.value->as<Constructor>()) {
    std::vector<const Type*> given, wanted;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      given.push_back(givenType(*call.arguments[i].value));
      wanted.push_back(
          fieldType(instances_.module.types, constructor->fields[i], typeOf(*binding.var)));
    }
    seeFunctions(given, wanted);
    Environment arguments = made_.layouts.argumentsOf(typeOf(*binding.var), environment_);
    return construct(scope, binding, layoutMade(binding), call.arguments, constructor->fields,
                     arguments);
  }
  const Type* type = typeOf(*call.callee.value);
  if (type && type->op) {
    callOperator(scope, binding, call, *type->op);
    return giveUpDying(scope, {&call.callee, 1});
  }
  if (!callGroup(scope, binding, call))
    callFunction(scope, binding, call.callee, call.arguments, isLast);
}

FunctionCompiler::Callee FunctionCompiler::calleeOf(const Operand& operand,
                                                    std::span<const Operand> arguments,
                                                    const Binding& binding) {
  std::vector<const Type*> given;
  for (const Operand& argument : arguments)
    given.push_back(givenType(*argument.value));
  const auto* global = operand.value->as<Global>();
  const Type* type = global ? instances_.declaredType(*global->function) : typeOf(*operand.value);
  TypeArguments found =
      typeArguments(instances_.module.types, type, given, typeOf(*binding.var), environment_);
  Environment generics = ordered(type->generics, instances_.representations(found, environment_));
  Callee callee;
  for (const Type* part : type->parts)
    callee.types.push_back(substitute(instances_.module.types, part, found));
  seeFunctions(given, callee.types);
  if (!global) {
    callee.owned.assign(arguments.size(), true);
    callee.signature = instances_.signature(type, environment_, generics);
    return callee;
  }
  callee.function = instances_.ofGlobal(*global, generics);
  callee.owned = instances_.ownedParameters(*global);
  if (instances_.isFlat(*global))
    for (const Type* part : instances_.typing.result(*global->function)->parts)
      callee.flat.push_back(instances_.rep(part, generics));
  return callee;
}

/// Says of which types the functions are that are given where these types are wanted.
void FunctionCompiler::seeFunctions(Types given, Types wanted) {
  for (size_t i = 0; i < given.size() && i < wanted.size(); ++i)
    if (given[i] && made_.layouts.holdsFunctions(given[i]))
      instances_.see(wanted[i], environment_);
}

/// Says how the argument is passed, and lets go of a variable that is moved.
FunctionCompiler::Passing FunctionCompiler::pass(Scope& scope, const Operand& operand, bool isOwned,
                                                 bool isUsedAgain) {
  const auto* var = operand.value->as<Var>();
  if (!var)
    return {Passing::Load};
  Held& source = held(*var);
  bool dies = !isUsedAgain && diesAt(scope, *var);
  if (source.rep.isScalar())
    return {Passing::Move, source.reg, dies};
  if (!isOwned)
    return {Passing::Lend, source.reg,
            dies && source.rep.hold == Hold::Borrowed && source.fields.empty()};
  bool isMoved = dies && source.rep.hold == Hold::Owned && source.fields.empty();
  if (!isMoved)
    return {Passing::Retain, source.reg, false};
  uint16_t reg = source.reg;
  forget(*var);
  registers_.used[reg] = true;
  return {Passing::Move, reg, true, true};
}

/// The first register of the window: above all that stay in use, and where arguments that are in
/// their places already need not move.
uint16_t FunctionCompiler::windowFor(std::span<const Passing> passings) {
  std::vector<bool> before = registers_.used;
  for (const Passing& passing : passings)
    if (passing.isFreed)
      registers_.used[passing.from] = false;
  uint16_t base = registers_.top();
  std::swap(before, registers_.used);
  for (size_t i = 0; i < passings.size(); ++i) {
    size_t place = base + i;
    bool isTaken = place < registers_.used.size() && registers_.used[place];
    if (isTaken && !(passings[i].isFreed && passings[i].from == place))
      return registers_.top();
  }
  for (const Passing& passing : passings)
    if (passing.isFreed && passing.from >= base + passings.size())
      return registers_.top();
  return base;
}

/// Puts argument `i` into its place.
void FunctionCompiler::putArgument(uint16_t place, const Passing& passing, const Operand& operand,
                                   const Callee& callee, size_t i) {
  switch (passing.kind) {
  case Passing::Move:
  case Passing::Lend:
    if (passing.from != place)
      code_.emit(passing.kind == Passing::Move ? Op::Move : Op::Lend, place, passing.from);
    return;
  case Passing::Retain:
    code_.emit(Op::Retain, place, passing.from);
    return;
  case Passing::Load:
    loadAtomTo(place, *operand.value, i < callee.types.size() ? callee.types[i] : nullptr,
               environment_);
    bool isScalar = operand.value->as<Constant>() && rep(typeOf(*operand.value)).isScalar();
    if (callee.owns(i) && !isScalar)
      code_.emit(Op::Retain, place, place);
  }
}

void FunctionCompiler::fillWindow(uint16_t base, std::span<const Passing> passings,
                                  std::span<const Operand> operands, const Callee& callee) {
  registers_.reserve(base + passings.size());
  for (size_t i = 0; i < passings.size(); ++i)
    putArgument(uint16_t(base + i), passings[i], operands[i], callee, i);
}

/// Puts the arguments of a tail call into the first registers, each when nothing else needs what
/// is there; where they wait for one another in a ring, one of them steps aside.
void FunctionCompiler::fillFirst(std::vector<Passing> passings, std::span<const Operand> operands,
                                 const Callee& callee) {
  registers_.reserve(passings.size());
  PassingOrder order(passings);
  while (!order.isDone()) {
    if (auto next = order.next()) {
      putArgument(uint16_t(*next), passings[*next], operands[*next], callee, *next);
      continue;
    }
    uint16_t place = order.source();
    uint16_t aside = registers_.takeFrom(passings.size());
    code_.emit(Op::Move, aside, place);
    order.redirect(place, aside);
  }
}

/// Whether what is lent to the callee outlives this call, so that it may take its place.
bool FunctionCompiler::isLentByCaller(const Operand& operand) {
  const auto* var = operand.value->as<Var>();
  const Held* source = var ? find(*var) : nullptr;
  while (source && source->rep.hold == Hold::Borrowed && source->parent)
    source = find(*source->parent);
  return !source || source->rep.hold != Hold::Owned;
}

/// Whether nothing that a call borrows is given up with this one.
bool FunctionCompiler::mayBeTail(const Binding& binding, const Call& call) {
  Callee callee = calleeOf(call.callee, call.arguments, binding);
  for (size_t i = 0; i < call.arguments.size(); ++i)
    if (!callee.owns(i) && !isLentByCaller(call.arguments[i]))
      return false;
  return true;
}

/// Of each operand, whether it is needed by another one when it is passed: what is lent to the
/// callee stays here until it is done, also if it is given to it as well.
std::vector<bool> FunctionCompiler::usedAgain(std::span<const Operand> operands,
                                              const Callee& callee) {
  struct Uses {
    size_t last;
    bool isLent;
  };
  std::unordered_map<const Expr*, Uses> uses;
  for (size_t i = 0; i < operands.size(); ++i) {
    Uses& own = uses[operands[i].value];
    own = {i, own.isLent || !callee.owns(i)};
  }
  std::vector<bool> isUsedAgain;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Uses& own = uses[operands[i].value];
    isUsedAgain.push_back(own.last > i || (callee.owns(i) && own.isLent));
  }
  return isUsedAgain;
}

std::vector<FunctionCompiler::Passing>
FunctionCompiler::passAll(Scope& scope, std::span<const Operand> operands, const Callee& callee) {
  std::vector<bool> isUsedAgain = usedAgain(operands, callee);
  // What is moved leaves its fields here; they may be moved themselves then.
  auto leavesFields = [&](size_t i) {
    const auto* var = operands[i].value->as<Var>();
    return var && callee.owns(i) && !isUsedAgain[i] && diesAt(scope, *var) &&
           held(*var).rep.hold == Hold::Owned && !held(*var).fields.empty();
  };
  for (bool changes = true; changes;) {
    changes = false;
    for (size_t i = 0; i < operands.size(); ++i)
      if (leavesFields(i)) {
        keepFields(*operands[i].value->as<Var>());
        changes = true;
      }
  }
  std::vector<Passing> passings;
  for (size_t i = 0; i < operands.size(); ++i)
    passings.push_back(pass(scope, operands[i], callee.owns(i), isUsedAgain[i]));
  return passings;
}

void FunctionCompiler::freePassed(std::span<const Passing> passings,
                                  std::span<const Operand> operands) {
  for (size_t i = 0; i < passings.size(); ++i) {
    if (!passings[i].isFreed)
      continue;
    const auto* var = operands[i].value->as<Var>();
    if (var && find(*var))
      forget(*var);
    else
      registers_.free(passings[i].from);
  }
}

void FunctionCompiler::callFunction(Scope& scope, const Binding& binding, const Operand& called,
                                    std::span<const Operand> arguments, bool isLast) {
  origin(binding.value->range, nullptr, binding.value->as<Call>());
  Callee callee = calleeOf(called, arguments, binding);
  std::vector<Operand> operands(arguments.begin(), arguments.end());
  if (!callee.function)
    operands.push_back(called);
  registers_.reserve(operands.size());
  bool endsHere = isLast && scope.isTail;
  bool isTail = endsHere && !(checks_ && checks_->result) && isFlat() == !callee.flat.empty() &&
                !(instance_.global && instances_.isOutermost(*instance_.global));
  for (size_t i = 0; i < operands.size(); ++i)
    isTail &= callee.owns(i) || isLentByCaller(operands[i]);
  std::vector<Passing> passings = passAll(scope, operands, callee);
  uint16_t base = isTail ? uint16_t(0) : windowFor(passings);
  if (isTail && sizes_)
    code_.emit(Op::Release, *sizes_);
  if (isTail)
    fillFirst(passings, operands, callee);
  else
    fillWindow(base, passings, operands, callee);
  freePassed(passings, operands);
  const auto* global = called.value->as<Global>();
  if (global && made_.boundaries->of(*global->function))
    code_.emit(Op::Note);
  if (callee.function)
    code_.emitCall(isTail ? Op::TailCall : Op::Call, base, *callee.function);
  else
    code_.emit(isTail ? Op::TailCallClosure : Op::CallClosure, base, uint16_t(arguments.size()),
               callee.signature);
  if (isTail)
    return;
  for (size_t i = 0; i < std::max<size_t>(callee.flat.size(), 1); ++i)
    registers_.take(uint16_t(base + i));
  giveUpDying(scope, operands);
  if (callee.flat.empty())
    receive(scope, binding, base);
  else if (endsHere && isFlat())
    returnFields(flatPassings(base, callee.flat), std::vector<Operand>(callee.flat.size()), callee);
  else
    receiveFlat(scope, binding, base, callee.flat);
}

/// The result of a call is in `reg`.
void FunctionCompiler::receive(Scope& scope, const Binding& binding, uint16_t reg) {
  Rep rep = this->rep(typeOf(*binding.var));
  if (isResult(scope, binding) && scope.target != vm::none) {
    code_.emit(Op::Move, scope.target, reg);
    registers_.free(reg);
    reg = scope.target;
  }
  define(scope, binding, rep, reg);
}

} // namespace bytecode
