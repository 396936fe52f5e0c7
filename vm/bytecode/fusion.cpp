// The scalar instructions from their rows, the others by name.
#include "vm/bytecode/fusion.h"

#include "vm/bytecode/scalar_rows.h"

namespace bytecode {

using runtime::ScalarFunction;
using vm::Op;

namespace {

std::optional<RowForm> returningForm(RowForm form) {
  switch (form) {
  case RowForm::binary:
    return RowForm::returnBinary;
  case RowForm::immediate:
    return RowForm::returnImmediate;
  case RowForm::masked:
    return RowForm::returnMasked;
  default:
    return std::nullopt;
  }
}

std::optional<Op> returningScalar(Op op) {
  const ScalarRow* row = scalarRowOf(op);
  auto form = row ? returningForm(row->form) : std::nullopt;
  return form ? findScalar(*form, row->function, row->dtype) : std::nullopt;
}

} // namespace

std::optional<Op> returning(Op op) {
  if (op >= Op::Make && op <= Op::Make3)
    return Op(size_t(Op::ReturnNew) + size_t(op) - size_t(Op::Make));
  if (op == Op::LoadLong)
    return Op::ReturnLong;
  if (op == Op::LoadOwned)
    return Op::ReturnStatic;
  return returningScalar(op);
}

std::optional<Op> calling(Op argument, Op call) {
  bool isTail = call == Op::TailCall;
  switch (argument) {
  case Op::Move:
    return isTail ? Op::TailMove : Op::CallMove;
  case Op::Lend:
    return isTail ? Op::TailLend : Op::CallLend;
  case Op::AddShortI32:
    return isTail ? Op::TailAddI32 : Op::CallAddI32;
  case Op::AddShortI64:
    return isTail ? Op::TailAddI64 : Op::CallAddI64;
  default:
    return std::nullopt;
  }
}

} // namespace bytecode
