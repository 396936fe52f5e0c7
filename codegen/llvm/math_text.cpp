// One instruction for one, but for products that are added: fused where the target has that.
#include "codegen/llvm/math_text.h"

#include <array>
#include <bit>
#include <stdexcept>
#include <vector>

namespace codegen {

namespace {

Element elementOf(MathType type) {
  switch (type) {
  case MathType::F32:
    return Element::Float32;
  case MathType::F64:
    return Element::Float64;
  case MathType::I32:
    return Element::Int32;
  case MathType::I64:
    return Element::Int64;
  case MathType::Bool:
    return Element::Bit;
  }
  throw std::logic_error("no type");
}

IrValue constantOf(IrType type, uint64_t bits) {
  if (type.element == Element::Float32)
    return FunctionText::real(type, double(std::bit_cast<float>(uint32_t(bits))));
  if (type.element == Element::Float64)
    return FunctionText::real(type, std::bit_cast<double>(bits));
  if (type.element == Element::Int32)
    return FunctionText::whole(type, int32_t(uint32_t(bits)));
  return FunctionText::whole(type, int64_t(bits));
}

class MathWriter {
public:
  MathWriter(FunctionText& text, const MathProgram& program, std::span<const IrValue> operands)
      : text_(text), program_(program), operands_(operands) {}

  IrValue write() {
    for (const MathInstruction& instruction : program_.instructions)
      values_.push_back(written(instruction));
    return values_[program_.result];
  }

private:
  const IrValue& operand(const MathInstruction& instruction, size_t i) const {
    return values_[instruction.operands[i]];
  }

  /// `f` on floats, `i` on whole numbers.
  IrValue binary(const MathInstruction& of, std::string_view onFloats, std::string_view onWholes) {
    const IrValue& a = operand(of, 0);
    return text_.binary(a.type.isFloat() ? onFloats : onWholes, a, operand(of, 1));
  }

  IrValue compared(const MathInstruction& of, std::string_view onFloats,
                   std::string_view onWholes) {
    const IrValue& a = operand(of, 0);
    return text_.compare(a.type.isFloat() ? onFloats : onWholes, a, operand(of, 1));
  }

  IrValue intrinsic(const MathInstruction& of, std::string_view name, size_t arity) {
    std::vector<IrValue> operands;
    for (size_t i = 0; i < arity; ++i)
      operands.push_back(operand(of, i));
    return text_.intrinsic(name, operands);
  }

  IrValue shifted(const MathInstruction& of, std::string_view instruction) {
    const IrValue& a = operand(of, 0);
    return text_.binary(instruction, a, FunctionText::whole(a.type, int64_t(of.immediate)));
  }

  /// In one instruction where the target has that, or by powers of two that are put together from
  /// their bits: two, where one alone may pass the range of floats though the product does not.
  IrValue scaled(const MathInstruction& of) {
    const IrValue &a = operand(of, 0), &n = operand(of, 1);
    if (text_.isOfAvx512(a.type))
      return text_.scalef(a, n);
    const bool isNarrow = of.type == MathType::F32;
    const Element whole = isNarrow ? Element::Int32 : Element::Int64;
    // So n is in the low bits.
    IrValue rounder = FunctionText::real(a.type, isNarrow ? 0x1.8p23 : 0x1.8p52);
    IrValue bits = text_.convert("bitcast", text_.binary("fadd", n, rounder), whole);
    IrValue one = text_.convert("bitcast", FunctionText::real(a.type, 1), whole);
    auto times = [&](const IrValue& value, const IrValue& exponent) {
      IrValue high =
          text_.binary("shl", exponent, FunctionText::whole(exponent.type, isNarrow ? 23 : 52));
      IrValue power = text_.convert("bitcast", text_.binary("add", high, one), a.type.element);
      return text_.binary("fmul", value, power);
    };
    if (of.immediate == 1)
      return times(a, bits);
    IrValue half = text_.binary("lshr", bits, FunctionText::whole(bits.type, 1));
    return times(times(a, half), text_.binary("sub", bits, half));
  }

  IrValue written(const MathInstruction& of) {
    Element element = elementOf(of.type);
    switch (of.op) {
    case MathOp::Parameter:
      return operands_[of.immediate];
    case MathOp::Constant:
      return constantOf({element, operands_[0].type.lanes}, of.immediate);
    case MathOp::Add:
      return binary(of, "fadd", "add");
    case MathOp::Subtract:
      return binary(of, "fsub", "sub");
    case MathOp::Multiply:
      return text_.binary("fmul", operand(of, 0), operand(of, 1));
    case MathOp::Divide:
      return text_.binary("fdiv", operand(of, 0), operand(of, 1));
    case MathOp::MultiplyAdd:
      return intrinsic(of, "llvm.fmuladd", 3);
    case MathOp::SquareRoot:
      return intrinsic(of, "llvm.sqrt", 1);
    case MathOp::Negate:
      return text_.add(operand(of, 0).type, "fneg " + typed(operand(of, 0)));
    case MathOp::Absolute:
      return intrinsic(of, "llvm.fabs", 1);
    case MathOp::CopySign:
      return intrinsic(of, "llvm.copysign", 2);
    case MathOp::Scale:
      return scaled(of);
    case MathOp::Floor:
      return intrinsic(of, "llvm.floor", 1);
    case MathOp::RoundEven:
      return intrinsic(of, "llvm.roundeven", 1);
    case MathOp::Less:
      return compared(of, "fcmp olt", "icmp slt");
    case MathOp::LessEqual:
      return compared(of, "fcmp ole", "icmp sle");
    case MathOp::Equal:
      return compared(of, "fcmp oeq", "icmp eq");
    case MathOp::NotEqual:
      return compared(of, "fcmp une", "icmp ne");
    case MathOp::Select:
      return text_.select(operand(of, 0), operand(of, 1), operand(of, 2));
    case MathOp::And:
      return text_.binary("and", operand(of, 0), operand(of, 1));
    case MathOp::Or:
      return text_.binary("or", operand(of, 0), operand(of, 1));
    case MathOp::Xor:
      return text_.binary("xor", operand(of, 0), operand(of, 1));
    case MathOp::Not:
      return text_.binary("xor", operand(of, 0),
                          FunctionText::bit(true, operand(of, 0).type.lanes));
    case MathOp::ShiftLeft:
      return shifted(of, "shl");
    case MathOp::ShiftRight:
      return shifted(of, "lshr");
    case MathOp::Bitcast:
      return text_.convert("bitcast", operand(of, 0), element);
    case MathOp::Convert:
      return text_.convert(of.type == MathType::F64 ? "fpext" : "fptrunc", operand(of, 0), element);
    }
    throw std::logic_error("no instruction");
  }

  FunctionText& text_;
  const MathProgram& program_;
  std::span<const IrValue> operands_;
  std::vector<IrValue> values_;
};

} // namespace

IrValue writeMath(FunctionText& text, const MathProgram& program,
                  std::span<const IrValue> operands) {
  return MathWriter(text, program, operands).write();
}

} // namespace codegen
