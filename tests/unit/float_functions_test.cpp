// Functions of float32 without branches, against float64 over the full range of float32.
#include "lower/elements/float_functions.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// How many units in the last place a result is off; one that should be infinite must be.
double unitsOff(float found, double wanted) {
  if (std::isinf(float(wanted)) || std::isinf(found))
    return found == float(wanted) ? 0 : HUGE_VAL;
  int exponent = wanted == 0 ? -149 : std::max(std::ilogb(wanted) - 23, -149);
  return std::fabs(double(found) - wanted) / std::ldexp(1.0, exponent);
}

/// The most of it, over every so many floats that are numbers.
template <typename Found, typename Wanted>
double mostUnitsOff(Found&& found, Wanted&& wanted) {
  constexpr uint64_t step = 4099;
  double most = 0;
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step)
    if (auto x = std::bit_cast<float>(uint32_t(bits)); !std::isnan(x))
      most = std::max(most, unitsOff(found(x), wanted(double(x))));
  return most;
}

} // namespace

TEST_CASE("functions of float32 err by little more than a unit", "[strips]") {
  CHECK(mostUnitsOff(lower::exponential, [](double x) { return std::exp(x); }) < 1.2);
  CHECK(mostUnitsOff(lower::hyperbolicTangent, [](double x) { return std::tanh(x); }) < 1.5);
}

TEST_CASE("functions of float32 at the ends of their range", "[strips]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(lower::exponential(nan)));
  CHECK(lower::exponential(infinity) == infinity);
  CHECK(lower::exponential(-infinity) == 0);
  CHECK(lower::exponential(0.0f) == 1);
  CHECK(lower::exponential(88.72284f) == infinity);
  CHECK(std::isfinite(lower::exponential(88.72283f)));
  CHECK(std::isnan(lower::hyperbolicTangent(nan)));
  CHECK(lower::hyperbolicTangent(infinity) == 1);
  CHECK(lower::hyperbolicTangent(-infinity) == -1);
  CHECK(std::signbit(lower::hyperbolicTangent(-0.0f)));
  CHECK(lower::hyperbolicTangent(1e-40f) == 1e-40f);
}
