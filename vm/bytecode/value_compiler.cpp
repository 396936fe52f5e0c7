// What makes values: objects, closures, cells, and atoms as they stand.
#include "vm/bytecode/function_compiler.h"
#include "vm/bytecode/type_arguments.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

namespace {

bool isGeneric(const Type* type) {
  return type && type->kind == TypeKind::Function && !type->generics.empty();
}

} // namespace

void FunctionCompiler::value(Scope& scope, const Binding& binding, bool isLast) {
  lang::match(
      *binding.value, [&](const Expr&) { atom(scope, binding, *binding.value); },
      [&](const TupleExpr& tuple) {
        construct(scope, binding, layoutMade(binding), tuple.fields, typeOf(*binding.var)->parts,
                  environment_);
      },
      [&](const Project& value) { project(scope, binding, value); },
      [&](const Call& value) { call(scope, binding, value, isLast); },
      [&](const If& value) { branch(scope, binding, value, isLast); },
      [&](const Match& value) { match(scope, binding, value, isLast); },
      [&](const Function& value) {
        if (!keepGroup(binding, value))
          closure(scope, binding, value);
      },
      [&](const RefNew& value) {
        const Type* content = typeOf(*binding.var)->parts[0];
        construct(scope, binding, made_.layouts.cell(rep(content)), {&value.content, 1},
                  {&content, 1}, environment_);
      },
      [&](const RefRead& value) { readCell(scope, binding, value); },
      [&](const RefWrite& value) { writeCell(scope, binding, value); },
      [&](const BlockExpr& value) {
        uint16_t target = targetFor(scope, isLast);
        inner(scope, binding, *value.block, isLast, target);
        afterBranches(scope, binding, isLast, target);
      });
}

/// The layout of the object that a binding makes, of a constructor or a tuple.
uint16_t FunctionCompiler::layoutMade(const Binding& binding) {
  const Type* type = typeOf(*binding.var);
  if (const auto* call = binding.value->as<Call>())
    return made_.layouts.data(*call->callee.value->as<Constructor>(),
                              made_.layouts.argumentsOf(type, environment_));
  std::vector<Rep> reps;
  for (const Type* part : type->parts)
    reps.push_back(rep(part));
  return made_.layouts.tuple(std::move(reps));
}

uint16_t FunctionCompiler::loadAtom(const Expr& atom, const Type* wanted,
                                    const Environment& environment) {
  uint16_t reg = registers_.take();
  loadAtomTo(reg, atom, wanted, environment);
  return reg;
}

/// Loads what is no variable; a reference is borrowed.
void FunctionCompiler::loadAtomTo(uint16_t reg, const Expr& atom, const Type* wanted,
                                  const Environment& environment) {
  if (const auto* constant = atom.as<Constant>()) {
    if (rep(constant->type).isScalar())
      return code_.emitLoad(reg, scalarBits(constantTensor(*constant)), made_.literals);
    return code_.emitWide(Op::LoadStatic, reg, made_.layouts.tensorObject(*constant));
  }
  uint16_t layout = layoutOf(atom, wanted, environment);
  code_.emitWide(Op::LoadStatic, reg, made_.layouts.emptyObject(layout));
}

/// The layout of the object of an atom that has no fields: a constructor of none, or a function.
uint16_t FunctionCompiler::layoutOf(const Expr& atom, const Type* wanted,
                                    const Environment& environment) {
  if (const auto* constructor = atom.as<Constructor>()) {
    if (constructor->fields.empty())
      return made_.layouts.data(*constructor, made_.layouts.argumentsOf(wanted, environment));
    if (!wanted || wanted->kind != TypeKind::Function || isGeneric(wanted))
      return instances_.genericMakerLayout(*constructor);
    return instances_.makerLayout(*constructor, wanted, environment);
  }
  if (const auto* op = atom.as<OperatorRef>())
    return made_.layouts.function(vm::LayoutKind::Operator, {op->row, op->row->name}, {});
  const auto* global = atom.as<Global>();
  auto generics = instances_.typing.generics(*global->function);
  if (generics.empty() || !wanted || wanted->kind != TypeKind::Function || isGeneric(wanted))
    return instances_.closureLayout(*global->function, global, nullptr, {}, {});
  Environment told = instances_.typeArguments(instances_.declaredType(*global->function),
                                              wanted->parts, wanted->result, environment);
  return hasAll(told, generics)
             ? instances_.givenLayout(*global, ordered(generics, told))
             : instances_.closureLayout(*global->function, global, nullptr, {}, {});
}

/// The type of an atom that a call gets, also of a function; null for one that has no type.
const Type* FunctionCompiler::givenType(const Expr& atom) const {
  if (const auto* global = atom.as<Global>())
    return instances_.declaredType(*global->function);
  const auto* constructor = atom.as<Constructor>();
  return constructor && !constructor->fields.empty()
             ? constructorType(instances_.module.types, *constructor)
             : typeOf(atom);
}

void FunctionCompiler::construct(Scope& scope, const Binding& binding, uint16_t layout,
                                 std::span<const Operand> fields, Types types,
                                 const Environment& environment) {
  std::vector<uint16_t> taken = takeAll(scope, fields, types, environment);
  const auto* call = binding.value->as<Call>();
  const auto* constructor = call ? call->callee.value->as<Constructor>() : nullptr;
  if (constructor && made_.boundaries->isChecked(*constructor))
    hostCall({.kind = SiteKind::Fields,
              .range = call->range,
              .check = made_.checks->fields(*constructor),
              .caller = caller(*call)},
             taken, made_.program.layouts[layout].fields, std::nullopt);
  freeDying(scope, fields);
  giveUpDying(scope, fields);
  if (fields.empty()) {
    uint16_t reg = registerFor(scope, binding);
    code_.emitWide(Op::LoadStatic, reg, made_.layouts.emptyObject(layout));
    return define(scope, binding, {Hold::Borrowed}, reg);
  }
  auto memory = memoryFor(scope, scope.at, fields.size());
  if (memory)
    registers_.free(*memory);
  uint16_t reg = registerFor(scope, binding);
  code_.emitFields(Op::Make, reg, layout, memory.value_or(vm::none), taken);
  define(scope, binding, reference, reg);
}

void FunctionCompiler::closure(Scope& scope, const Binding& binding, const Function& function) {
  std::vector<Operand> captured;
  std::vector<const Type*> types;
  std::vector<Rep> reps;
  for (const Var* var : instances_.freeVariables[function.number])
    if (var != binding.var) {
      captured.push_back({var, function.range});
      types.push_back(typeOf(*var));
      reps.push_back(rep(types.back()));
    }
  std::vector<uint16_t> taken = takeAll(scope, captured, types, environment_);
  const FunctionChecks* checks = made_.boundaries->of(function);
  if (checks && !checks->outer.empty()) {
    vm::HostSite site{.kind = SiteKind::OuterSizes,
                      .range = function.range,
                      .check = made_.checks->function(function)};
    std::vector<uint16_t> operands;
    if (sizes_)
      operands.push_back(*sizes_);
    taken.push_back(
        hostCall(std::move(site), operands, std::vector<Rep>(operands.size()), reference));
    temporaries_.push_back(taken.back());
    reps.push_back(reference);
  }
  freeDying(scope, captured);
  giveUpDying(scope, captured);
  uint16_t layout =
      instances_.closureLayout(function, nullptr, binding.var, std::move(reps), environment_);
  uint16_t reg = registerFor(scope, binding);
  if (taken.empty()) {
    code_.emitWide(Op::LoadStatic, reg, made_.layouts.emptyObject(layout));
    return define(scope, binding, {Hold::Borrowed}, reg);
  }
  code_.emitFields(Op::Make, reg, layout, vm::none, taken);
  define(scope, binding, reference, reg);
}

/// A value under a second name. One that nothing else needs only changes its name.
void FunctionCompiler::atom(Scope& scope, const Binding& binding, const Expr& atom) {
  const Type* type = typeOf(*binding.var);
  const auto* var = atom.as<Var>();
  if (!var) {
    uint16_t reg = registerFor(scope, binding);
    loadAtomTo(reg, atom, type, environment_);
    Rep rep = this->rep(type);
    return define(scope, binding, rep.isScalar() ? rep : Rep{Hold::Borrowed}, reg);
  }
  Operand operand{&atom, binding.value->range};
  if (held(*var).rep.isScalar()) {
    uint16_t from = held(*var).reg;
    Rep rep = held(*var).rep;
    freeDying(scope, {&operand, 1});
    uint16_t reg = registerFor(scope, binding);
    if (reg != from)
      code_.emit(Op::Move, reg, from);
    return define(scope, binding, rep, reg);
  }
  uint16_t from = take(scope, operand, type, environment_, false);
  if (find(*var))
    giveUpDying(scope, {&operand, 1});
  freeTemporaries();
  uint16_t reg = registerFor(scope, binding);
  if (reg != from)
    code_.emit(Op::Move, reg, from);
  define(scope, binding, reference, reg);
}

void FunctionCompiler::readCell(Scope& scope, const Binding& binding, const RefRead& value) {
  uint16_t cell = look(value.reference);
  Rep content = rep(typeOf(*value.reference.value)->parts[0]);
  uint16_t layout = made_.layouts.cell(content);
  uint16_t reg = registers_.take();
  code_.emit(content.isScalar() ? Op::ReadScalar : Op::ReadOwned, reg, cell, layout);
  giveUpDying(scope, {&value.reference, 1});
  freeTemporaries();
  define(scope, binding, content, reg);
}

void FunctionCompiler::writeCell(Scope& scope, const Binding& binding, const RefWrite& value) {
  const Type* type = typeOf(*value.reference.value)->parts[0];
  Rep content = rep(type);
  bool isBoth = value.value.value == value.reference.value;
  uint16_t written = take(scope, value.value, type, environment_, isBoth);
  uint16_t cell = look(value.reference);
  code_.emit(content.isScalar() ? Op::WriteScalar : Op::WriteOwned, cell, written,
             made_.layouts.cell(content));
  std::vector<Operand> operands{value.reference, value.value};
  freeDying(scope, operands);
  giveUpDying(scope, operands);
  unit(scope, binding);
}

/// `()`, if somebody wants it.
void FunctionCompiler::unit(Scope& scope, const Binding& binding) {
  uint16_t reg = registerFor(scope, binding);
  code_.emitWide(Op::LoadStatic, reg, made_.layouts.emptyObject(made_.layouts.tuple({})));
  define(scope, binding, {Hold::Borrowed}, reg);
}

} // namespace bytecode
