// Each column of runtime/scalar_functions.def is held by something else than itself: floats by
// reals of 60 digits, derivatives by central differences of those reals, and the spelling in C by a
// C compiler. Machine code is held in native_functions_test.cpp.
#include "lower/tensor/fold.h"
#include "runtime/scalar_meaning.h"
#include "tests/harness/scalar_derivative.h"
#include "tests/harness/scalar_spelling.h"
#include "tests/unit/places.h"
#include "tests/unit/scalar_cases.h"

#include <bit>
#include <boost/multiprecision/mpfr.hpp>

namespace {

using lang::Scalar;
using runtime::applied;
using tests::forEachFunction, tests::forEachType, tests::operand, tests::Operands;
using tests::ScalarFunction;
using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<60>,
                                           boost::multiprecision::et_off>;

/// How many floats lie between two, where those of both signs of zero are one.
template <typename T>
uint64_t distance(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b) ? 0 : UINT64_MAX;
  using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  auto place = [](T value) {
    Bits bits = std::bit_cast<Bits>(value);
    return bits < 0 ? -int64_t(bits & std::numeric_limits<Bits>::max()) : int64_t(bits);
  };
  int64_t left = place(a), right = place(b);
  return left > right ? uint64_t(left) - uint64_t(right) : uint64_t(right) - uint64_t(left);
}

/// A float quotient may round to a whole number that the real one does not reach, or past it.
template <ScalarFunction function, typename T>
bool isStepOfQuotient(const Real& a, const Real& b) {
  using enum ScalarFunction;
  if constexpr (function == FloorDivide || function == TruncDivide) {
    Real quotient = a / b, whole = round(quotient);
    return quotient != whole &&
           fabs(quotient - whole) <= fabs(quotient) * std::numeric_limits<T>::epsilon();
  }
  return false;
}

template <ScalarFunction function, typename T>
void compareWithReals(Operands& operands) {
  for (int i = 0; i < 2000; ++i) {
    T a = operand<T>(operands), b = operand<T>(operands), c = operand<T>(operands);
    Real x(a), y(b), z(c);
    if (isStepOfQuotient<function, T>(x, y))
      continue;
    INFO(tensor::scalarFunctionName(function) << " of " << a << ", " << b << ", " << c);
    auto number = applied<function>(a, b, c);
    auto real = applied<function>(x, y, z);
    if constexpr (std::is_same_v<decltype(number), bool>)
      REQUIRE(number == real);
    else
      REQUIRE(distance(number, T(real)) <= 4);
  }
}

} // namespace

TEST_CASE("Scalar functions of floats are those of reals within 4 units of the last place") {
  Operands operands;
  forEachFunction([&]<ScalarFunction function>() {
    if constexpr (runtime::HasMeaning<function, Real>) {
      compareWithReals<function, double>(operands);
      compareWithReals<function, float>(operands);
    }
  });
}

namespace {

__extension__ typedef __int128 Wide;

Wide wideFloorQuotient(Wide a, Wide b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Wide widePower(Wide base, Wide exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, square = uint64_t(base);
  for (auto left = uint64_t(exponent); left != 0; left /= 2) {
    if (left % 2 != 0)
      result *= square;
    square *= square;
  }
  return result;
}

/// round(a * b * 2^(c - 31)), halves up.
Wide wideFixedPoint(Wide a, Wide b, Wide c) {
  Wide shift = 31 - c;
  if (shift <= 0)
    return shift > -64 ? Wide(uint64_t(a * b) << int(-shift)) : 0;
  return shift > 63 ? 0 : (a * b + (Wide(1) << int(shift - 1))) >> int(shift);
}

/// Functions of whole numbers that compare, and those of truth values.
std::optional<Wide> wideTest(ScalarFunction function, Wide a, Wide b) {
  using enum ScalarFunction;
  switch (function) {
  case LogicalAnd:
    return a != 0 && b != 0;
  case LogicalOr:
    return a != 0 || b != 0;
  case LogicalXor:
    return (a == 0) != (b == 0);
  case LogicalNot:
    return a == 0;
  case Equal:
    return a == b;
  case NotEqual:
    return a != b;
  case Less:
    return a < b;
  case LessEqual:
    return a <= b;
  case Greater:
    return a > b;
  case GreaterEqual:
    return a >= b;
  case IsFinite:
    return 1;
  case IsNan:
  case IsInf:
    return 0;
  default:
    return std::nullopt;
  }
}

/// Functions of one whole number, or of bits of `width`.
Wide wideSign(ScalarFunction function, unsigned width, Wide a, Wide b) {
  using enum ScalarFunction;
  bool isWithin = b >= 0 && b < width;
  switch (function) {
  case LeftShift:
    return isWithin ? Wide(uint64_t(a) << int(b)) : 0;
  case RightShift:
    return isWithin ? a >> int(b) : a < 0 ? -1 : 0;
  case BitAnd:
    return a & b;
  case BitOr:
    return a | b;
  case BitXor:
    return a ^ b;
  case BitNot:
    return -1 - a;
  case Negative:
    return -a;
  case Abs:
    return a < 0 ? -a : a;
  case Sign:
    return a > 0 ? 1 : a < 0 ? -1 : 0;
  default:
    return a;
  }
}

/// What a function of whole numbers is before it wraps.
Wide wideFunction(ScalarFunction function, unsigned width, Wide a, Wide b, Wide c) {
  using enum ScalarFunction;
  bool divides = function >= Divide && function <= TruncMod;
  if (divides && b == 0)
    return 0;
  if (auto test = wideTest(function, a, b))
    return *test;
  switch (function) {
  case Add:
    return a + b;
  case Subtract:
    return a - b;
  case Multiply:
    return Wide(uint64_t(a) * uint64_t(b));
  case Divide:
  case TruncDivide:
    return a / b;
  case FloorDivide:
    return wideFloorQuotient(a, b);
  case FloorMod:
    return a - wideFloorQuotient(a, b) * b;
  case TruncMod:
    return a % b;
  case Power:
    return widePower(a, b);
  case Maximum:
    return std::max(a, b);
  case Minimum:
    return std::min(a, b);
  case Select:
    return a != 0 ? b : c;
  case FixedPointMultiply:
    return wideFixedPoint(a, b, c);
  default:
    return wideSign(function, width, a, b);
  }
}

template <ScalarFunction function, typename T>
void compareWithWide(Operands& operands) {
  for (int i = 0; i < 2000; ++i) {
    T a = operand<T>(operands), b = operand<T>(operands), c = operand<T>(operands);
    INFO(tensor::scalarFunctionName(function) << " of " << +a << ", " << +b << ", " << +c);
    REQUIRE(T(applied<function>(a, b, c)) == T(wideFunction(function, 8 * sizeof(T), a, b, c)));
  }
}

} // namespace

TEST_CASE("Scalar functions of whole numbers are those of 128 bits, wrapped") {
  Operands operands;
  forEachType([&]<typename T>() {
    forEachFunction([&]<ScalarFunction function>() {
      // Fixed point is of int32 alone.
      constexpr bool isWanted =
          function != ScalarFunction::FixedPointMultiply || std::is_same_v<T, int32_t>;
      if constexpr (std::integral<T> && runtime::HasMeaning<function, T> && isWanted)
        compareWithWide<function, T>(operands);
    });
  });
}

namespace {

/// The value of an expression whose indices are the operands.
Real evaluate(const tensor::ScalarNode* node, const std::vector<Real>& values) {
  if (auto* number = node->as<tensor::ScalarNumber>())
    return node->dtype.isFloat() ? Real(number->real) : Real(number->integer);
  if (auto* index = node->as<tensor::ScalarIndex>())
    return values[index->axis];
  auto* apply = node->as<tensor::ScalarApply>();
  REQUIRE(apply);
  std::vector<Real> x;
  for (const tensor::ScalarNode* part : apply->operands)
    x.push_back(evaluate(part, values));
  x.resize(3);
  Real result;
  forEachFunction([&]<ScalarFunction function>() {
    if constexpr (runtime::HasMeaning<function, Real>)
      if (function == apply->function)
        result = Real(applied<function>(x[0], x[1], x[2]));
  });
  return result;
}

/// The operands and the value of a function as scalars: indices 0 to 2, and 3.
std::vector<Scalar> indices(runtime::Arena& arena) {
  std::vector<Scalar> result;
  for (uint32_t i = 0; i < 4; ++i)
    result.push_back(
        {&arena, arena.make<tensor::ScalarIndex>(
                     tensor::ScalarNode{tensor::ScalarKind::Index, runtime::Float64}, i)});
  return result;
}

/// Compares a derivative at one point with the central difference; false where the function has no
/// value there.
template <ScalarFunction function>
bool holdsAt(const std::vector<Real>& at, size_t i, const tensor::ScalarNode* derivative) {
  auto value = [&](const std::vector<Real>& x) {
    return Real(applied<function>(x[0], x[1], x[2]));
  };
  Real step("1e-20");
  std::vector<Real> above = at, below = at, all = at;
  above[i] += step;
  below[i] -= step;
  Real difference = (value(above) - value(below)) / (2 * step);
  if (!isfinite(difference))
    return false;
  all.push_back(value(at));
  Real found = evaluate(derivative, all);
  INFO(tensor::scalarFunctionName(function) << " by operand " << i << " at " << at[0] << ", "
                                            << at[1] << ": " << found << " and not " << difference);
  REQUIRE(fabs(found - difference) <= Real("1e-30") * (1 + fabs(difference)));
  return true;
}

} // namespace

TEST_CASE("Derivatives of scalar functions are central differences of reals") {
  runtime::Arena arena;
  std::vector<Scalar> scalars = indices(arena);
  Operands operands;
  size_t compared = 0;
  forEachFunction([&]<ScalarFunction function>() {
    INFO(tensor::scalarFunctionName(function));
    size_t arity = tensor::scalarFunctionArity(function);
    bool isLogic = function >= ScalarFunction::LogicalAnd && function <= ScalarFunction::LogicalNot;
    for (size_t i = 0; i < arity; ++i) {
      auto derivative =
          harness::scalarDerivative(function, i, std::span(scalars).first(arity), scalars[3]);
      if constexpr (runtime::HasMeaning<function, Real>) {
        constexpr bool isTest = std::is_same_v<decltype(applied<function>(Real())), bool>;
        REQUIRE(derivative.has_value() == (!isTest && !isLogic));
        size_t valid = 0;
        for (int n = 0; derivative && n < 200; ++n) {
          std::vector<Real> at{3 * operands.unit(), 3 * operands.unit(), 3 * operands.unit()};
          valid += holdsAt<function>(at, i, derivative->node());
        }
        CHECK((!derivative || valid >= 40));
        compared += derivative.has_value();
      } else {
        REQUIRE(!derivative);
      }
    }
    CHECK(!harness::scalarDerivative(function, arity, std::span(scalars).first(arity), scalars[3]));
  });
  CHECK(compared == 53);
}

namespace {

struct CType {
  std::string_view name, wrapping;
  bool isFloat, isSigned;
};

template <typename T>
constexpr CType cType() {
  if constexpr (std::is_same_v<T, float>)
    return {"float", "uint32_t", true, true};
  else if constexpr (std::is_same_v<T, double>)
    return {"double", "uint64_t", true, true};
  else {
    constexpr std::string_view names[2][4] = {{"uint8_t", "uint16_t", "uint32_t", "uint64_t"},
                                              {"int8_t", "int16_t", "int32_t", "int64_t"}};
    constexpr size_t size = std::countr_zero(sizeof(T));
    return {names[std::is_signed_v<T>][size], names[0][std::max(size, size_t(2))], false,
            std::is_signed_v<T>};
  }
}

/// All functions on all types as C.
std::string cText() {
  std::string text(harness::scalarPreludeInC);
  forEachType([&]<typename T>() {
    CType type = cType<T>();
    text += fmt::format("#define T {}\n#define W {}\n#define IS_SIGNED {}\n", type.name,
                        type.wrapping, int(type.isSigned));
    forEachFunction([&]<ScalarFunction function>() {
      auto [result, body] = harness::scalarFunctionInC(function, type.isFloat);
      CHECK(body.empty() != runtime::HasMeaning<function, T>);
      if (!body.empty())
        text += fmt::format("{} {}_{}(T a, T b, T c) {}\n", result,
                            tensor::scalarFunctionName(function), type.name, body);
    });
    text += "#undef T\n#undef W\n#undef IS_SIGNED\n";
  });
  return text;
}

} // namespace

TEST_CASE("The spelling of scalar functions in C computes the same bits") {
  std::string command =
      fmt::format("'{}' -x c -std=c11 -O1 -ffp-contract=off -Werror=implicit-function-declaration "
                  "-shared -fPIC -o code.so code.c -lm",
                  tests::compiler().string());
  tests::CompiledText library("code.c", cText(), command);
  Operands operands;
  size_t compared = 0;
  forEachType([&]<typename T>() {
    forEachFunction([&]<ScalarFunction function>() {
      if constexpr (runtime::HasMeaning<function, T>) {
        using R = decltype(applied<function>(T()));
        auto inC = reinterpret_cast<R (*)(T, T, T)>(library.find(
            fmt::format("{}_{}", tensor::scalarFunctionName(function), cType<T>().name)));
        REQUIRE(inC != nullptr);
        for (int i = 0; i < 500; ++i) {
          T a = operand<T>(operands), b = operand<T>(operands), c = operand<T>(operands);
          INFO(tensor::scalarFunctionName(function) << " of " << +a << ", " << +b << ", " << +c);
          REQUIRE(tests::areSameBits(inC(a, b, c), applied<function>(a, b, c)));
        }
        ++compared;
      }
    });
  });
  CHECK(compared > 300);
}

TEST_CASE("Constants fold to what the table means, unless they wrap or fault") {
  runtime::Arena arena;
  auto folded = [&](ScalarFunction function, int64_t a, int64_t b) {
    const tensor::ScalarNode* operands[] = {tensor::makeInteger(arena, a),
                                            tensor::makeInteger(arena, b)};
    bool isBool = tensor::scalarFunctionGivesBool(function);
    return tensor::integerOf(
        tensor::makeApply(arena, function, isBool ? runtime::Bool : runtime::Int64, operands));
  };
  using enum ScalarFunction;
  CHECK(folded(FloorDivide, 7, -2) == -4);
  CHECK(folded(TruncDivide, -7, 2) == -3);
  CHECK(folded(TruncMod, -7, 2) == -1);
  CHECK(folded(FloorMod, INT64_MIN, 3) == 1);
  CHECK(folded(Less, -1, 0) == 1);
  CHECK(folded(Multiply, int64_t(1) << 31, int64_t(1) << 31) == int64_t(1) << 62);
  CHECK(folded(Multiply, int64_t(1) << 32, int64_t(1) << 31) == std::nullopt);
  CHECK(folded(Add, INT64_MAX, 1) == std::nullopt);
  CHECK(folded(Subtract, INT64_MIN, 1) == std::nullopt);
  for (ScalarFunction function : {Divide, FloorDivide, FloorMod, TruncDivide, TruncMod})
    CHECK(folded(function, 1, 0) == std::nullopt);
}
