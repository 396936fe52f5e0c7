// Which formula each scalar function has, and the programs that are made of them when the first one
// is asked for.
#include "codegen/math/float_bits.h"
#include "codegen/math/functions.h"

#include <optional>

namespace codegen {

namespace {

using namespace functions;
using enum runtime::ScalarFunction;
using runtime::ScalarFunction;

/// 1 where the condition holds, else 0.
MathValue truth(MathValue like, MathValue condition) {
  return select(condition, 1, constant(like, 0));
}

MathValue isTrue(MathValue a) {
  return a != constant(a, 0);
}

struct UnaryRow {
  ScalarFunction function;
  MathValue (*formula)(MathValue a);
};

struct BinaryRow {
  ScalarFunction function;
  MathValue (*formula)(MathValue a, MathValue b);
};

constexpr UnaryRow unaryRows[] = {
    {Negative, [](MathValue a) { return -a; }},
    {Abs, absolute},
    {Sign, sign},
    {Floor, floorOf},
    {Ceil, [](MathValue a) { return -floorOf(-a); }},
    {Trunc, truncated},
    {Round, roundedAway},
    {RoundEven, roundEven},
    {Exp, exponential},
    {Log, logarithm},
    {Log2, logarithm2},
    {Log10, logarithm10},
    {Sqrt, squareRoot},
    {Rsqrt, [](MathValue a) { return 1 / squareRoot(a); }},
    {Sin, sine},
    {Cos, cosine},
    {Tan, tangent},
    {Asin, arcsine},
    {Acos, arccosine},
    {Atan, arctangent},
    {Sinh, hyperbolicSine},
    {Cosh, hyperbolicCosine},
    {Tanh, hyperbolicTangent},
    {Asinh, inverseHyperbolicSine},
    {Acosh, inverseHyperbolicCosine},
    {Atanh, inverseHyperbolicTangent},
    {Erf, errorFunction},
    {Sigmoid, sigmoid},
    {LogicalNot, [](MathValue a) { return truth(a, a == 0); }},
    {IsNan, [](MathValue a) { return a != a; }},
    {IsFinite, [](MathValue a) { return absolute(a) < infinity; }},
    {IsInf, [](MathValue a) { return absolute(a) == infinity; }},
};

constexpr BinaryRow binaryRows[] = {
    {Add, [](MathValue a, MathValue b) { return a + b; }},
    {Subtract, [](MathValue a, MathValue b) { return a - b; }},
    {Multiply, [](MathValue a, MathValue b) { return a * b; }},
    {Divide, [](MathValue a, MathValue b) { return a / b; }},
    {FloorDivide, [](MathValue a, MathValue b) { return floorOf(a / b); }},
    {TruncDivide, [](MathValue a, MathValue b) { return truncated(a / b); }},
    {Power, power},
    {FloorMod, floorRemainder},
    {TruncMod, truncatedRemainder},
    {Maximum, maximum},
    {Minimum, minimum},
    {LogicalAnd, [](MathValue a, MathValue b) { return truth(a, isTrue(a) & isTrue(b)); }},
    {LogicalOr, [](MathValue a, MathValue b) { return truth(a, isTrue(a) | isTrue(b)); }},
    {LogicalXor, [](MathValue a, MathValue b) { return truth(a, isTrue(a) ^ isTrue(b)); }},
    {Equal, [](MathValue a, MathValue b) { return a == b; }},
    {NotEqual, [](MathValue a, MathValue b) { return a != b; }},
    {Less, [](MathValue a, MathValue b) { return a < b; }},
    {LessEqual, [](MathValue a, MathValue b) { return a <= b; }},
    {Greater, [](MathValue a, MathValue b) { return b < a; }},
    {GreaterEqual, [](MathValue a, MathValue b) { return b <= a; }},
};

using Programs = std::array<std::optional<MathProgram>, runtime::scalarFunctionCount>;

Programs programsOf(MathType type) {
  Programs programs;
  for (const UnaryRow& row : unaryRows) {
    MathBuilder builder;
    MathValue a = builder.parameter(type, 0);
    programs[size_t(row.function)] = builder.finish(row.formula(a));
  }
  for (const BinaryRow& row : binaryRows) {
    MathBuilder builder;
    MathValue a = builder.parameter(type, 0);
    MathValue b = builder.parameter(type, 1);
    programs[size_t(row.function)] = builder.finish(row.formula(a, b));
  }
  return programs;
}

} // namespace

const MathProgram* mathProgram(ScalarFunction function, runtime::DType dtype) {
  static const Programs programs32 = programsOf(MathType::F32);
  static const Programs programs64 = programsOf(MathType::F64);
  if (dtype != runtime::Float32 && dtype != runtime::Float64)
    return nullptr;
  const auto& found = (dtype == runtime::Float32 ? programs32 : programs64)[size_t(function)];
  return found ? &*found : nullptr;
}

} // namespace codegen
