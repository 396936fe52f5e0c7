// Checks operand types as it goes, so that every program that is built is well-typed.
#include "codegen/math/builder.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace codegen {

namespace {

using enum MathOp;
using enum MathType;

bool isFloat(MathType type) {
  return type == F32 || type == F64;
}

void require(bool isGood) {
  if (!isGood)
    throw std::logic_error("operands that an instruction of a mathematical program does not take");
}

MathValue unary(MathOp op, MathValue a) {
  require(isFloat(a.type()));
  return a.builder->add({op, a.type(), {a.number}});
}

MathValue binary(MathOp op, MathValue a, MathValue b) {
  require(a.type() == b.type());
  return a.builder->add({op, a.type(), {a.number, b.number}});
}

MathValue floatBinary(MathOp op, MathValue a, MathValue b) {
  require(isFloat(a.type()));
  return binary(op, a, b);
}

MathValue bitwise(MathOp op, MathValue a, MathValue b) {
  require(!isFloat(a.type()));
  return binary(op, a, b);
}

MathValue compared(MathOp op, MathValue a, MathValue b) {
  require(a.type() == b.type() && a.type() != Bool);
  return a.builder->add({op, Bool, {a.number, b.number}});
}

MathValue shifted(MathOp op, MathValue a, unsigned bits) {
  require((a.type() == I32 && bits < 32) || (a.type() == I64 && bits < 64));
  return a.builder->add({op, a.type(), {a.number}, bits});
}

} // namespace

MathType MathValue::type() const {
  return builder->typeOf(number);
}

MathValue MathBuilder::add(const MathInstruction& instruction) {
  auto found = std::ranges::find(instructions_, instruction);
  auto number = uint16_t(found - instructions_.begin());
  if (found == instructions_.end()) {
    require(instructions_.size() < UINT16_MAX);
    instructions_.push_back(instruction);
  }
  return {this, number};
}

MathValue MathBuilder::parameter(MathType type, uint64_t number) {
  return add({Parameter, type, {}, number});
}

MathProgram MathBuilder::finish(MathValue result) const {
  std::vector<bool> counts(instructions_.size());
  counts[result.number] = true;
  for (size_t i = instructions_.size(); i-- > 0;) {
    const MathInstruction& instruction = instructions_[i];
    for (size_t k = 0; counts[i] && k < mathOpArity(instruction.op); ++k)
      counts[instruction.operands[k]] = true;
  }
  MathProgram program;
  std::vector<uint16_t> numbers(instructions_.size());
  for (size_t i = 0; i < instructions_.size(); ++i) {
    MathInstruction instruction = instructions_[i];
    if (!counts[i] && instruction.op != Parameter)
      continue;
    for (size_t k = 0; k < mathOpArity(instruction.op); ++k)
      instruction.operands[k] = numbers[instruction.operands[k]];
    numbers[i] = uint16_t(program.instructions.size());
    program.instructions.push_back(instruction);
  }
  program.result = numbers[result.number];
  return program;
}

MathValue constant(MathValue like, double value) {
  require(isFloat(like.type()));
  uint64_t bits =
      like.type() == F32 ? std::bit_cast<uint32_t>(float(value)) : std::bit_cast<uint64_t>(value);
  return like.builder->add({Constant, like.type(), {}, bits});
}

MathValue wholeConstant(MathValue like, uint64_t bits) {
  bool isNarrow = like.type() == F32 || like.type() == I32;
  return like.builder->add({Constant, isNarrow ? I32 : I64, {}, isNarrow ? uint32_t(bits) : bits});
}

MathValue operator+(MathValue a, MathValue b) {
  require(a.type() != Bool);
  return binary(Add, a, b);
}
MathValue operator-(MathValue a, MathValue b) {
  require(a.type() != Bool);
  return binary(Subtract, a, b);
}
MathValue operator*(MathValue a, MathValue b) {
  return floatBinary(Multiply, a, b);
}
MathValue operator/(MathValue a, MathValue b) {
  return floatBinary(Divide, a, b);
}
MathValue operator-(MathValue a) {
  return unary(Negate, a);
}
MathValue operator<(MathValue a, MathValue b) {
  return compared(Less, a, b);
}
MathValue operator<=(MathValue a, MathValue b) {
  return compared(LessEqual, a, b);
}
MathValue operator==(MathValue a, MathValue b) {
  return compared(Equal, a, b);
}
MathValue operator!=(MathValue a, MathValue b) {
  return compared(NotEqual, a, b);
}
MathValue operator&(MathValue a, MathValue b) {
  return bitwise(And, a, b);
}
MathValue operator|(MathValue a, MathValue b) {
  return bitwise(Or, a, b);
}
MathValue operator^(MathValue a, MathValue b) {
  return bitwise(Xor, a, b);
}
MathValue operator!(MathValue a) {
  require(a.type() == Bool);
  return a.builder->add({Not, Bool, {a.number}});
}
MathValue operator<<(MathValue a, unsigned bits) {
  return shifted(ShiftLeft, a, bits);
}
MathValue operator>>(MathValue a, unsigned bits) {
  return shifted(ShiftRight, a, bits);
}

MathValue multiplyAdd(MathValue a, MathValue b, MathValue c) {
  require(isFloat(a.type()) && a.type() == b.type() && a.type() == c.type());
  return a.builder->add({MultiplyAdd, a.type(), {a.number, b.number, c.number}});
}
MathValue squareRoot(MathValue a) {
  return unary(SquareRoot, a);
}
MathValue absolute(MathValue a) {
  return unary(Absolute, a);
}
MathValue copySign(MathValue size, MathValue sign) {
  return floatBinary(CopySign, size, sign);
}
MathValue scaledBy(MathValue a, MathValue n, bool isPlain) {
  require(isFloat(a.type()) && a.type() == n.type());
  return a.builder->add({Scale, a.type(), {a.number, n.number}, isPlain});
}
MathValue floorOf(MathValue a) {
  return unary(Floor, a);
}
MathValue roundEven(MathValue a) {
  return unary(RoundEven, a);
}
MathValue select(MathValue condition, MathValue yes, MathValue no) {
  require(condition.type() == Bool && yes.type() == no.type());
  return yes.builder->add({Select, yes.type(), {condition.number, yes.number, no.number}});
}
MathValue bitsOf(MathValue a) {
  require(isFloat(a.type()));
  return a.builder->add({Bitcast, a.type() == F32 ? I32 : I64, {a.number}});
}
MathValue floatOf(MathValue bits) {
  require(bits.type() == I32 || bits.type() == I64);
  return bits.builder->add({Bitcast, bits.type() == I32 ? F32 : F64, {bits.number}});
}
MathValue toFloat32(MathValue a) {
  require(a.type() == F64);
  return a.builder->add({Convert, F32, {a.number}});
}
MathValue toFloat64(MathValue a) {
  require(a.type() == F32);
  return a.builder->add({Convert, F64, {a.number}});
}

MathValue polynomial(MathValue x, std::initializer_list<double> coefficients) {
  MathValue sum = constant(x, *(coefficients.end() - 1));
  for (auto at = coefficients.end() - 1; at != coefficients.begin();)
    sum = multiplyAdd(sum, x, *--at);
  return sum;
}

} // namespace codegen
