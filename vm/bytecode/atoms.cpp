// Numbers are loaded, all else is an object that lives as long as the program.
#include "vm/bytecode/atoms.h"
#include "lang/op/op.h"
#include "vm/bytecode/scalar_compiler.h"
#include "vm/bytecode/type_arguments.h"

namespace bytecode {

using namespace lang;

namespace {

bool isGeneric(const Type* type) {
  return type && type->kind == TypeKind::Function && !type->generics.empty();
}

/// The layout of the object of an atom that has no fields: a constructor of none, or a function.
uint16_t layoutOf(FunctionState& state, const Expr& atom, const Type* wanted,
                  const Environment& environment) {
  if (const auto* constructor = atom.as<Constructor>()) {
    if (constructor->fields.empty())
      return state.made.layouts.data(*constructor,
                                     state.made.layouts.argumentsOf(wanted, environment));
    if (!wanted || wanted->kind != TypeKind::Function || isGeneric(wanted))
      return state.instances.genericMakerLayout(*constructor);
    return state.instances.makerLayout(*constructor, wanted, environment);
  }
  if (const auto* op = atom.as<OperatorRef>())
    return state.made.layouts.function(vm::LayoutKind::Operator, {op->row, op->row->name}, {});
  const auto* global = atom.as<Global>();
  auto generics = state.instances.typing.generics(*global->function);
  if (generics.empty() || !wanted || wanted->kind != TypeKind::Function || isGeneric(wanted))
    return state.instances.closureLayout(*global->function, global, nullptr, {}, {});
  Environment told = state.instances.typeArguments(state.instances.declaredType(*global->function),
                                                   wanted->parts, wanted->result, environment);
  return hasAll(told, generics)
             ? state.instances.givenLayout(*global, ordered(generics, told))
             : state.instances.closureLayout(*global->function, global, nullptr, {}, {});
}

} // namespace

uint16_t loadAtom(FunctionState& state, const Expr& atom, const Type* wanted,
                  const Environment& environment) {
  uint16_t reg = state.registers.take();
  loadAtomTo(state, reg, atom, wanted, environment);
  return reg;
}

/// Loads what is no variable; a reference is borrowed.
void loadAtomTo(FunctionState& state, uint16_t reg, const Expr& atom, const Type* wanted,
                const Environment& environment) {
  if (const auto* constant = atom.as<Constant>()) {
    if (state.rep(constant->type).isScalar())
      return state.code.emitLoad(reg, scalarBits(constantTensor(*constant)), state.made.literals);
    return state.code.emitWide(Op::LoadStatic, reg, state.made.layouts.tensorObject(*constant));
  }
  uint16_t layout = layoutOf(state, atom, wanted, environment);
  state.code.emitWide(Op::LoadStatic, reg, state.made.layouts.emptyObject(layout));
}

} // namespace bytecode
