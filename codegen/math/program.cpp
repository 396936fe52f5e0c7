// How many operands the instructions have.
#include "codegen/math/program.h"

#include <stdexcept>

namespace codegen {

size_t mathOpArity(MathOp op) {
  using enum MathOp;
  switch (op) {
  case Parameter:
  case Constant:
    return 0;
  case SquareRoot:
  case Negate:
  case Absolute:
  case Floor:
  case RoundEven:
  case Not:
  case ShiftLeft:
  case ShiftRight:
  case Bitcast:
  case Convert:
    return 1;
  case Add:
  case Subtract:
  case Multiply:
  case Divide:
  case CopySign:
  case Scale:
  case Less:
  case LessEqual:
  case Equal:
  case NotEqual:
  case And:
  case Or:
  case Xor:
    return 2;
  case MultiplyAdd:
  case Select:
    return 3;
  }
  throw std::logic_error("no instruction of a mathematical program");
}

} // namespace codegen
