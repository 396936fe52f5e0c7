// Functions whose results are exact, such as rounding and comparison, are compared bit for bit.
#include "driver/math_accuracy.h"

#include "driver/math_arguments.h"
#include "interp/real.h"
#include "runtime/scalar.h"

#include <bit>

namespace driver {

namespace {

using codegen::MathProgram;
using interp::Real;
using runtime::ScalarFunction;

constexpr unsigned digits = 50;

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

/// The function on T as C++ computes it; a bool is 0 or 1.
template <typename T>
T applied(ScalarFunction function, T a, T b) {
  switch (function) {
#define SCALAR_FUNCTION(name, ...)                                                                 \
  case ScalarFunction::name:                                                                       \
    if constexpr (runtime::HasMeaning<ScalarFunction::name, T>)                                    \
      return T(runtime::applied<ScalarFunction::name>(a, b));                                      \
    break;
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
  }
  throw std::logic_error("no function of floats");
}

/// Whether results are rounded from numbers that no float is: of powers, and of all functions that
/// have no meaning on whole numbers.
bool isRounded(ScalarFunction function) {
  switch (function) {
#define SCALAR_FUNCTION(name, ...)                                                                 \
  case ScalarFunction::name:                                                                       \
    return function == ScalarFunction::Power || !runtime::HasMeaning<ScalarFunction::name, int64_t>;
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
  }
  return false;
}

bool isSame(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

/// Of a finite real that is not 0; of floats with so many digits, above the least exponent.
double unitsOff(double found, const Real& wanted, int mantissa, int least) {
  long exponent = 0;
  mpfr_get_d_2exp(&exponent, wanted.backend().data(), MPFR_RNDN);
  int most = mantissa == 24 ? 128 : 1024;
  exponent = std::min<long>(std::max<long>(exponent - mantissa, least), most - mantissa);
  // An infinity stands for what is next to the largest number, and is right for all beyond.
  Real place = std::isinf(found) ? ldexp(Real(std::copysign(1.0, found)), most) : Real(found);
  if (std::isinf(found) && abs(wanted) >= abs(place) && (wanted < 0) == (found < 0))
    return 0;
  return double(ldexp(Real(abs(place - wanted)), int(-exponent)));
}

/// What the result of a function should be.
struct Wanted {
  /// As C++ computes it in float64, or in the type itself where that is exact.
  double value;
  Real real;
};

template <typename T>
Wanted wantedOf(ScalarFunction function, T a, T b) {
  if (!isRounded(function))
    return {double(applied<T>(function, a, b)), Real()};
  return {applied<double>(function, a, b),
          runtime::realFunction(function, runtime::Float64, Real(a), Real(b))};
}

template <typename T>
double unitsOff(ScalarFunction function, T found, const Wanted& wanted) {
  const double ofSame = isSame(double(found), wanted.value) ? 0 : HUGE_VAL;
  if (!isRounded(function) || std::isnan(wanted.value) || std::isnan(found) ||
      !isfinite(wanted.real) || wanted.real == 0)
    return ofSame;
  if (found == 0 && std::signbit(found) != std::signbit(wanted.value))
    return HUGE_VAL;
  return unitsOff(double(found), wanted.real, std::numeric_limits<T>::digits,
                  std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
}

template <typename T>
MathAccuracy measured(ScalarFunction function, const MathProgram& program, size_t points) {
  interp::RealDigits scope(digits);
  auto arguments = mathArguments<T>(program, points);
  const size_t count = arguments[0].size();
  const bool hasTwo = !arguments[1].empty();
  const std::array<std::span<const uint64_t>, 2> parameters{arguments[0], arguments[1]};
  std::vector<uint64_t> fused(count), unfused(count);
  runMathProgram(program, codegen::Rounding::Fused, std::span(parameters).first(hasTwo ? 2 : 1),
                 fused);
  runMathProgram(program, codegen::Rounding::Unfused, std::span(parameters).first(hasTwo ? 2 : 1),
                 unfused);
  const bool givesBool = runtime::scalarFunctionGivesBool(function);
  MathAccuracy accuracy{.points = count};
  for (size_t i = 0; i < count; ++i) {
    auto a = std::bit_cast<T>(BitsOf<T>(arguments[0][i]));
    T b = hasTwo ? std::bit_cast<T>(BitsOf<T>(arguments[1][i])) : T(0);
    Wanted wanted = wantedOf(function, a, b);
    auto note = [&](uint64_t bits, MathError& error) {
      T found = givesBool ? T(bits) : std::bit_cast<T>(BitsOf<T>(bits));
      double units = unitsOff(function, found, wanted);
      if (units > error.units)
        error = {units, {double(a), double(b)}, double(found)};
    };
    note(fused[i], accuracy.fused);
    note(unfused[i], accuracy.unfused);
  }
  return accuracy;
}

} // namespace

std::optional<MathAccuracy> mathAccuracy(ScalarFunction function, runtime::DType dtype,
                                         size_t points) {
  const MathProgram* program = codegen::mathProgram(function, dtype);
  if (!program)
    return std::nullopt;
  return dtype == runtime::Float32 ? measured<float>(function, *program, points)
                                   : measured<double>(function, *program, points);
}

} // namespace driver
