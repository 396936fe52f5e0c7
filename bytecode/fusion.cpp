// The scalar instructions from their rows, the others by name.
#include "bytecode/fusion.h"

#include "runtime/scalar_function.h"

#include <string_view>

namespace bytecode {

using runtime::ScalarFunction;
using vm::Op;

namespace {

struct ScalarRow {
  std::string_view form;
  ScalarFunction function;
  std::string_view type;
  Op op;
};

constexpr ScalarRow scalarRows[] = {
#define INSTRUCTION(...)
#define SCALAR(name, text, form, function, type, ...)                                              \
  {#form, ScalarFunction::function, #type, Op::name},
#include "vm/instructions.def"
#undef INSTRUCTION
};

std::string_view returningForm(std::string_view form) {
  return form == "binary"      ? "returnBinary"
         : form == "immediate" ? "returnImmediate"
         : form == "masked"    ? "returnMasked"
                               : "";
}

std::optional<Op> returningScalar(Op op) {
  for (const ScalarRow& row : scalarRows)
    if (row.op == op)
      for (const ScalarRow& other : scalarRows)
        if (other.form == returningForm(row.form) && other.function == row.function &&
            other.type == row.type)
          return other.op;
  return std::nullopt;
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
