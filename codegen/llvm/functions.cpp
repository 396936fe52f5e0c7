// The meanings are those of runtime/scalar_functions.def; tests hold each function to it.
#include "codegen/llvm/functions.h"

#include "codegen/llvm/math_text.h"
#include "runtime/scalar.h"

#include <array>
#include <fmt/format.h>
#include <limits>
#include <vector>

namespace codegen {

namespace {

using enum ScalarFunction;
using Operands = std::span<const IrValue>;

constexpr double infinity = std::numeric_limits<double>::infinity();

bool is16Bits(DType dtype) {
  return dtype.isFloat() && dtype.bits == 16;
}

bool isBrain(DType dtype) {
  return dtype.code == runtime::DTypeCode::BFloat;
}

/// The upper half of a float32, rounded to even; NaN stays one.
IrValue brainBits(FunctionText& text, const IrValue& value) {
  auto number = [&](int64_t n) {
    return FunctionText::whole(value.type.withElement(Element::Int32), n);
  };
  IrValue bits = text.convert("bitcast", value, Element::Int32);
  IrValue last = text.binary("and", text.binary("lshr", bits, number(16)), number(1));
  IrValue rounded = text.binary("add", bits, text.binary("add", last, number(0x7fff)));
  IrValue isNan = text.compare("fcmp uno", value, value);
  IrValue quiet = text.binary("or", bits, number(0x400000));
  IrValue kept = text.select(isNan, quiet, rounded);
  return text.convert("trunc", text.binary("lshr", kept, number(16)), Element::Int16);
}

IrValue widenedBrain(FunctionText& text, const IrValue& bits) {
  IrValue wide = text.convert("zext", bits, Element::Int32);
  IrValue shifted = text.binary("shl", wide, FunctionText::whole(wide.type, 16));
  return text.convert("bitcast", shifted, Element::Float32);
}

/// A float64 as a float32 that rounds to fewer bits as it would itself: where it is not exact, it
/// is the one of its two neighbours whose last bit is set (rounding to odd: Boldo and Melquiond,
/// Emulation of a FMA and correctly rounded sums).
IrValue roundedToOdd(FunctionText& text, const IrValue& value) {
  IrValue near = text.convert("fptrunc", value, Element::Float32);
  IrValue back = text.convert("fpext", near, Element::Float64);
  IrValue bits = text.convert("bitcast", near, Element::Int32);
  IrValue isBeyond = text.compare("fcmp ogt", text.intrinsic("llvm.fabs", {&back, 1}),
                                  text.intrinsic("llvm.fabs", {&value, 1}));
  IrValue below = text.binary("sub", bits, text.convert("zext", isBeyond, Element::Int32));
  IrValue isInexact = text.compare("fcmp one", back, value);
  IrValue odd = text.binary("or", below, text.convert("zext", isInexact, Element::Int32));
  return text.convert("bitcast", odd, Element::Float32);
}

/// Rounds a float32 to a float of 16 bits; others are what they are.
IrValue roundedTo(FunctionText& text, const IrValue& value, DType dtype) {
  if (!is16Bits(dtype))
    return value;
  if (isBrain(dtype))
    return widenedBrain(text, brainBits(text, value));
  return text.convert("fpext", text.convert("fptrunc", value, Element::Float16), Element::Float32);
}

IrValue zero(const IrValue& like) {
  return like.type.isFloat() ? FunctionText::real(like.type, 0) : FunctionText::whole(like.type, 0);
}

std::string_view comparison(ScalarFunction function, DType dtype) {
  constexpr std::array<std::array<std::string_view, 3>, 6> rows{{
      {"fcmp oeq", "icmp eq", "icmp eq"},
      {"fcmp une", "icmp ne", "icmp ne"},
      {"fcmp olt", "icmp slt", "icmp ult"},
      {"fcmp ole", "icmp sle", "icmp ule"},
      {"fcmp ogt", "icmp sgt", "icmp ugt"},
      {"fcmp oge", "icmp sge", "icmp uge"},
  }};
  if (function < Equal || function > GreaterEqual)
    return {};
  return rows[size_t(function) - size_t(Equal)][dtype.isFloat() ? 0 : dtype.isSigned() ? 1 : 2];
}

/// Tests give bits whatever they are of.
std::optional<IrValue> test(FunctionText& text, ScalarFunction function, DType dtype, Operands of) {
  if (std::string_view condition = comparison(function, dtype); !condition.empty())
    return text.compare(condition, of[0], of[1]);
  if (function != IsNan && function != IsFinite && function != IsInf)
    return std::nullopt;
  if (!dtype.isFloat())
    return FunctionText::bit(function == IsFinite, of[0].type.lanes);
  if (function == IsNan)
    return text.compare("fcmp uno", of[0], of[0]);
  IrValue size = text.intrinsic("llvm.fabs", of.first(1));
  return text.compare(function == IsFinite ? "fcmp olt" : "fcmp oeq", size,
                      FunctionText::real(size.type, infinity));
}

std::optional<IrValue> logic(FunctionText& text, ScalarFunction function, DType dtype,
                             Operands of) {
  std::string_view instruction = function == LogicalAnd   ? "and"
                                 : function == LogicalOr  ? "or"
                                 : function == LogicalXor ? "xor"
                                                          : "";
  if (instruction.empty() && function != LogicalNot)
    return std::nullopt;
  IrValue a = writeTruth(text, of[0], dtype);
  IrValue made = function == LogicalNot
                     ? text.binary("xor", a, FunctionText::bit(true, a.type.lanes))
                     : text.binary(instruction, a, writeTruth(text, of[1], dtype));
  return writeCast(text, made, runtime::Bool, dtype);
}

/// What neither kind of number has instructions for is computed lane by lane, by the table itself.
IrValue called(FunctionText& text, ScalarFunction function, DType dtype, Operands of) {
  bool isFloat = dtype.isFloat();
  std::string_view callee = isFloat ? "double @baton_real" : "i64 @baton_whole";
  Element wide = isFloat ? Element::Float64 : Element::Int64;
  std::vector<IrValue> operands;
  for (const IrValue& operand : of)
    operands.push_back(operand.type.element == wide ? operand
                       : isFloat                    ? text.convert("fpext", operand, wide)
                                 : text.convert(dtype.isSigned() ? "sext" : "zext", operand, wide));
  IrType type = of[0].type.withElement(wide);
  IrValue made{"poison", type};
  for (uint32_t i = 0; i < type.lanes; ++i) {
    std::string list =
        fmt::format("i32 {}, i32 {}", size_t(function), size_t(dtype.code) << 8 | dtype.bits);
    for (size_t k = 0; k < (isFloat ? 2 : 3); ++k)
      list += ", " + typed(k < operands.size() ? text.lane(operands[k], i)
                                               : zero({"", type.withLanes(1)}));
    made = text.withLane(made,
                         text.add(type.withLanes(1), fmt::format("call {}({})", callee, list)), i);
  }
  if (type.element == of[0].type.element)
    return made;
  return text.convert(isFloat ? "fptrunc" : "trunc", made, of[0].type.element);
}

IrValue sign(FunctionText& text, DType dtype, const IrValue& a) {
  DType from = dtype;
  IrValue one = numberOf(from, 1, 1), less = numberOf(from, -1, -1);
  one = text.splat(one, a.type.lanes), less = text.splat(less, a.type.lanes);
  IrValue below = text.select(text.compare(comparison(Less, dtype), a, zero(a)), less, a);
  return text.select(text.compare(comparison(Greater, dtype), a, zero(a)), one, below);
}

// Floats.

IrValue floatFloorMod(FunctionText& text, Operands of) {
  IrValue rest = text.binary("frem", of[0], of[1]), none = zero(rest);
  IrValue isThere = text.compare("fcmp une", rest, none);
  IrValue differs = text.binary("xor", text.compare("fcmp olt", rest, none),
                                text.compare("fcmp olt", of[1], none));
  return text.select(text.binary("and", isThere, differs), text.binary("fadd", rest, of[1]), rest);
}

/// NaN where one of them is.
IrValue greaterOrLesser(FunctionText& text, Operands of, bool isGreater) {
  if (!text.isOfAvx512(of[0].type))
    return text.intrinsic(isGreater ? "llvm.maximum" : "llvm.minimum", of);
  IrValue number = text.range(of[0], of[1], isGreater);
  return text.select(text.compare("fcmp uno", of[0], of[1]), text.binary("fadd", of[0], of[1]),
                     number);
}

std::string_view floatIntrinsic(ScalarFunction function) {
  switch (function) {
  case Abs:
    return "llvm.fabs";
  case Floor:
    return "llvm.floor";
  case Ceil:
    return "llvm.ceil";
  case Trunc:
    return "llvm.trunc";
  case Round:
    return "llvm.round";
  case RoundEven:
    return "llvm.roundeven";
  case Sqrt:
    return "llvm.sqrt";
  default:
    return {};
  }
}

IrValue onFloats(FunctionText& text, ScalarFunction function, DType dtype, Operands of) {
  auto intrinsic = [&](std::string_view name, IrValue value) {
    return text.intrinsic(name, std::span(&value, 1));
  };
  if (std::string_view name = floatIntrinsic(function); !name.empty())
    return text.intrinsic(name, of);
  switch (function) {
  case Maximum:
  case Minimum:
    return greaterOrLesser(text, of, function == Maximum);
  case Add:
    return text.binary("fadd", of[0], of[1]);
  case Subtract:
    return text.binary("fsub", of[0], of[1]);
  case Multiply:
    return text.binary("fmul", of[0], of[1]);
  case Divide:
    return text.binary("fdiv", of[0], of[1]);
  case FloorDivide:
    return intrinsic("llvm.floor", text.binary("fdiv", of[0], of[1]));
  case TruncDivide:
    return intrinsic("llvm.trunc", text.binary("fdiv", of[0], of[1]));
  case TruncMod:
    return text.binary("frem", of[0], of[1]);
  case FloorMod:
    return floatFloorMod(text, of);
  case Negative:
    return text.add(of[0].type, "fneg " + typed(of[0]));
  case Sign:
    return sign(text, dtype, of[0]);
  case Rsqrt:
    return text.binary("fdiv", FunctionText::real(of[0].type, 1), text.intrinsic("llvm.sqrt", of));
  default:
    break;
  }
  DType computed = dtype.bits == 64 ? runtime::Float64 : runtime::Float32;
  if (const MathProgram* program = mathProgram(function, computed))
    return writeMath(text, *program, of);
  return called(text, function, dtype, of);
}

// Whole numbers.

/// The quotient toward zero and its rest. A divisor of 0 or -1 never reaches the instruction.
struct Division {
  IrValue quotient, rest, isZero, isMinusOne;
};

Division divided(FunctionText& text, DType dtype, const IrValue& a, const IrValue& b) {
  IrValue one = FunctionText::whole(b.type, 1);
  Division made;
  made.isZero = text.compare("icmp eq", b, zero(b));
  made.isMinusOne = dtype.isSigned() ? text.compare("icmp eq", b, FunctionText::whole(b.type, -1))
                                     : FunctionText::bit(false, b.type.lanes);
  IrValue divisor = text.select(text.binary("or", made.isZero, made.isMinusOne), one, b);
  made.quotient = text.binary(dtype.isSigned() ? "sdiv" : "udiv", a, divisor);
  made.rest = text.binary(dtype.isSigned() ? "srem" : "urem", a, divisor);
  return made;
}

/// Whether the rest is not 0, and of another sign than the divisor.
IrValue isRoundedUp(FunctionText& text, const IrValue& rest, const IrValue& signOf,
                    const IrValue& b) {
  IrValue isThere = text.compare("icmp ne", rest, zero(rest));
  IrValue differs = text.binary("xor", text.compare("icmp slt", signOf, zero(b)),
                                text.compare("icmp slt", b, zero(b)));
  return text.binary("and", isThere, differs);
}

IrValue wholeDivision(FunctionText& text, ScalarFunction function, DType dtype, Operands of) {
  const IrValue &a = of[0], &b = of[1];
  Division made = divided(text, dtype, a, b);
  if (function == FloorMod || function == TruncMod) {
    IrValue rest = made.rest;
    if (function == FloorMod && dtype.isSigned())
      rest = text.select(isRoundedUp(text, rest, rest, b), text.binary("add", rest, b), rest);
    return text.select(text.binary("or", made.isZero, made.isMinusOne), zero(a), rest);
  }
  IrValue quotient = made.quotient;
  if (function == FloorDivide && dtype.isSigned()) {
    IrValue isLower = isRoundedUp(text, made.rest, a, b);
    quotient = text.binary("add", quotient, text.convert("sext", isLower, a.type.element));
  }
  IrValue negated = text.binary("sub", zero(a), a);
  return text.select(made.isZero, zero(a), text.select(made.isMinusOne, negated, quotient));
}

IrValue shifted(FunctionText& text, ScalarFunction function, DType dtype, Operands of) {
  const IrValue &a = of[0], &b = of[1];
  IrValue width = FunctionText::whole(b.type, bitsOf(b.type.element));
  IrValue isInside = text.compare("icmp ult", b, width);
  IrValue count = text.select(isInside, b, zero(b));
  if (function == LeftShift)
    return text.select(isInside, text.binary("shl", a, count), zero(a));
  IrValue past = zero(a);
  if (dtype.isSigned())
    past = text.convert("sext", text.compare("icmp slt", a, zero(a)), a.type.element);
  return text.select(isInside, text.binary(dtype.isSigned() ? "ashr" : "lshr", a, count), past);
}

/// Of numbers that stand for ones of another type, if that is bool.
IrValue onWholes(FunctionText& text, ScalarFunction function, DType dtype, DType meant,
                 Operands of) {
  bool isSigned = dtype.isSigned();
  switch (function) {
  case Add:
    return text.binary("add", of[0], of[1]);
  case Subtract:
    return text.binary("sub", of[0], of[1]);
  case Multiply:
    return text.binary("mul", of[0], of[1]);
  case Divide:
  case FloorDivide:
  case FloorMod:
  case TruncDivide:
  case TruncMod:
    return wholeDivision(text, function, dtype, of);
  case Maximum:
    return text.intrinsic(isSigned ? "llvm.smax" : "llvm.umax", of);
  case Minimum:
    return text.intrinsic(isSigned ? "llvm.smin" : "llvm.umin", of);
  case LeftShift:
  case RightShift:
    return shifted(text, function, dtype, of);
  case BitAnd:
    return text.binary("and", of[0], of[1]);
  case BitOr:
    return text.binary("or", of[0], of[1]);
  case BitXor:
    return text.binary("xor", of[0], of[1]);
  case BitNot:
    return text.binary("xor", of[0], FunctionText::whole(of[0].type, -1));
  case Negative:
    return text.binary("sub", zero(of[0]), of[0]);
  case Abs:
    return isSigned ? text.select(text.compare("icmp slt", of[0], zero(of[0])),
                                  text.binary("sub", zero(of[0]), of[0]), of[0])
                    : of[0];
  case Sign:
    return sign(text, dtype, of[0]);
  case Floor:
  case Ceil:
  case Trunc:
  case Round:
  case RoundEven:
    return of[0];
  default:
    return called(text, function, meant, of);
  }
}

} // namespace

IrValue numberOf(DType dtype, double real, int64_t whole) {
  IrType type{computedAs(dtype)};
  return dtype.isFloat() ? FunctionText::real(type, real) : FunctionText::whole(type, whole);
}

IrValue writeTruth(FunctionText& text, const IrValue& value, DType dtype) {
  if (dtype.isBool())
    return value;
  return text.compare(dtype.isFloat() ? "fcmp une" : "icmp ne", value, zero(value));
}

IrValue writeFunction(FunctionText& text, ScalarFunction function, DType first, DType result,
                      Operands operands) {
  if (function == Select) {
    uint32_t lanes = operands[1].type.lanes;
    IrValue condition = writeTruth(text, operands[0], first);
    return text.select(text.splat(condition, lanes), operands[1], operands[2]);
  }
  if (auto made = test(text, function, first, operands))
    return writeCast(text, *made, runtime::Bool, result);
  if (auto made = logic(text, function, first, operands))
    return *made;
  if (first.isFloat())
    return roundedTo(text, onFloats(text, function, first, operands), first);
  if (!first.isBool())
    return onWholes(text, function, first, first, operands);
  // Bools are computed as bytes and cut to their bit.
  std::vector<IrValue> bytes;
  for (const IrValue& operand : operands)
    bytes.push_back(text.convert("zext", operand, Element::Int8));
  return text.convert("trunc", onWholes(text, function, runtime::UInt8, first, bytes),
                      Element::Bit);
}

// Markstein's correction: what q s lacks to the dividend is known exactly, and times the reciprocal
// it is what q lacks. That takes five instructions for one that takes as long as ten. Where it is
// NaN, as of infinite dividends and quotients, q is what it should be. Divisors that are so small
// or large that the reciprocal loses digits are divided by.
IrValue writeQuotient(FunctionText& text, const IrValue& dividends, const IrValue& divisor) {
  const IrType type = dividends.type;
  const double most = type.element == Element::Float64 ? 0x1p500 : 0x1p60;
  IrValue size = text.intrinsic("llvm.fabs", std::span(&divisor, 1));
  IrValue isPlain =
      text.binary("and", text.compare("fcmp oge", size, FunctionText::real(divisor.type, 1 / most)),
                  text.compare("fcmp ole", size, FunctionText::real(divisor.type, most)));
  IrValue reciprocal = text.binary("fdiv", FunctionText::real(divisor.type, 1), divisor);
  const std::string multiplied = text.newLabel(), divided = text.newLabel(), end = text.newLabel();
  text.branch(isPlain, multiplied, divided);
  text.open(multiplied);
  IrValue all = text.splat(reciprocal, type.lanes);
  IrValue q = text.binary("fmul", dividends, all);
  IrValue negated = text.add(type, "fneg " + typed(q));
  IrValue lack[] = {negated, text.splat(divisor, type.lanes), dividends};
  IrValue error = text.intrinsic("llvm.fma", lack);
  IrValue correction[] = {error, all, q};
  IrValue corrected = text.intrinsic("llvm.fma", correction);
  IrValue product = text.select(text.compare("fcmp ord", corrected, corrected), corrected, q);
  text.jump(end);
  text.open(divided);
  IrValue quotient = text.binary("fdiv", dividends, text.splat(divisor, type.lanes));
  text.jump(end);
  text.open(end);
  return text.add(type, fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", textOf(type), product.text,
                                    multiplied, quotient.text, divided));
}

IrValue writeCast(FunctionText& text, const IrValue& value, DType from, DType to) {
  if (from == to)
    return value;
  if (to.isBool())
    return writeTruth(text, value, from);
  Element element = computedAs(to);
  if (from.isFloat() && to.isFloat()) {
    IrValue made = value.type.element == element     ? value
                   : from.bits == 64 && is16Bits(to) ? roundedToOdd(text, value)
                   : from.bits == 64                 ? text.convert("fptrunc", value, element)
                                                     : text.convert("fpext", value, element);
    return roundedTo(text, made, to);
  }
  if (from.isFloat()) {
    IrType type = value.type.withElement(element);
    return text.add(type, fmt::format("call {} @llvm.fpto{}i.sat.{}.{}({})", textOf(type),
                                      to.isSigned() ? "s" : "u", suffixOf(type),
                                      suffixOf(value.type), typed(value)));
  }
  if (to.isFloat())
    return roundedTo(text, text.convert(from.isSigned() ? "sitofp" : "uitofp", value, element), to);
  uint32_t have = bitsOf(value.type.element), want = bitsOf(element);
  if (have == want)
    return value;
  return text.convert(have > want ? "trunc" : from.isSigned() ? "sext" : "zext", value, element);
}

IrValue writeLoaded(FunctionText& text, const IrValue& stored, DType dtype) {
  if (dtype.isBool())
    return text.convert("trunc", stored, Element::Bit);
  if (!is16Bits(dtype))
    return stored;
  return isBrain(dtype) ? widenedBrain(text, stored)
                        : text.convert("fpext", stored, Element::Float32);
}

IrValue writeStored(FunctionText& text, const IrValue& value, DType dtype) {
  if (dtype.isBool())
    return text.convert("zext", value, Element::Int8);
  if (!is16Bits(dtype))
    return value;
  return isBrain(dtype) ? brainBits(text, value) : text.convert("fptrunc", value, Element::Float16);
}

IrValue writeReinterpret(FunctionText& text, const IrValue& value, DType from, DType to) {
  IrValue bits = writeStored(text, value, from);
  if (bits.type.element != storedAs(to))
    bits = text.convert("bitcast", bits, storedAs(to));
  return writeLoaded(text, bits, to);
}

} // namespace codegen
