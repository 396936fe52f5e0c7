// Requantisation by expressions is that of the C library's frexp and of integers of 128 bits.
#include "stdlib/ops/qnn/quantized.h"

#include "tests/unit/tensor_functions.h"

#include <cmath>

namespace {

using namespace tests;

__extension__ typedef __int128 Wide;

/// A factor in fixed point.
struct Factor {
  int64_t multiplier = 0;
  int shift = 0;

  explicit Factor(double value) {
    multiplier = std::llround(std::ldexp(std::frexp(value, &shift), 31));
    if (std::abs(multiplier) == int64_t(1) << 31) {
      multiplier /= 2;
      ++shift;
    }
  }

  /// `value * multiplier * 2^(shift - 31)`, halves up or away from zero, as 32 bits hold it.
  int32_t times(int64_t value, bool roundsUpward) const {
    Wide product = Wide(value) * multiplier << 40;
    int right = 31 + 40 - shift;
    Wide half = Wide(1) << (right - 1);
    if (!roundsUpward && product < 0)
      --half;
    return int32_t(uint32_t((product + half) >> right));
  }
};

/// Factors of all sizes and signs, powers of two and what rounds to them.
std::vector<double> factors(std::mt19937& random) {
  std::vector<double> values{0, 1, 0.5, -2, 1 - 0x1p-33, 4 - 0x1p-31, -1 + 0x1p-33, 0x1p-30, 3e5};
  std::uniform_real_distribution<double> size(1, 2);
  for (int i = 0; i < 500; ++i)
    values.push_back(
        std::ldexp(random() % 4 == 0 ? -size(random) : size(random), int(random() % 40) - 30));
  return values;
}

std::vector<int64_t> wholesOf(const Value& value) {
  std::vector<int64_t> wholes;
  for (const Number& number : numbersOf(value.tensor()))
    wholes.push_back(int64_t(number.whole));
  return wholes;
}

} // namespace

TEST_CASE("factors in fixed point are those of frexp") {
  std::mt19937 random(5);
  std::vector<double> values = factors(random);
  Shape shape{int64_t(values.size())};
  std::vector<Tensor> inputs{tensorOf(runtime::Float64, shape, values)};
  auto partOf = [&](TensorHandle stdlib::FixedPoint::*part) {
    Plan plan = planOf(inputs, runtime::Int32, shape, [&](ComputeCall& call) {
      call.result(stdlib::fixedPointOf(call, call.input(0)).*part);
    });
    return wholesOf(runWell(plan, inputs)[0]);
  };
  std::vector<int64_t> multipliers = partOf(&stdlib::FixedPoint::multiplier);
  std::vector<int64_t> shifts = partOf(&stdlib::FixedPoint::shift);
  for (size_t i = 0; i < values.size(); ++i) {
    INFO(values[i]);
    CHECK(multipliers[i] == Factor(values[i]).multiplier);
    CHECK(shifts[i] == Factor(values[i]).shift);
  }
}

TEST_CASE("requantisation in fixed point is exact but for its rounding") {
  std::mt19937 random(6);
  std::vector<double> ratios = factors(random);
  std::vector<double> data, zeroPoints;
  for (size_t i = 0; i < ratios.size(); ++i) {
    data.push_back(i % 3 == 0 ? double(int32_t(random())) : double(int(random() % 512) - 256));
    zeroPoints.push_back(double(int(random() % 512) - 256));
  }
  Shape shape{int64_t(ratios.size())};
  std::vector<Tensor> inputs{tensorOf(runtime::Int32, shape, data),
                             tensorOf(runtime::Int32, shape, zeroPoints),
                             tensorOf(runtime::Float64, shape, ratios)};
  for (bool roundsUpward : {true, false}) {
    Plan plan = planOf(inputs, runtime::Int32, shape, [&](ComputeCall& call) {
      stdlib::Requantizer requantize(call, {stdlib::RequantizeType::Int64, roundsUpward},
                                     call.input(2));
      call.result([&](const Position& at) {
        return requantize(call.input(0)(at), call.input(1)(at), call.number(runtime::Int32, 7), at);
      });
    });
    std::vector<int64_t> results = wholesOf(runWell(plan, inputs)[0]);
    for (size_t i = 0; i < ratios.size(); ++i) {
      INFO(data[i] << " less " << zeroPoints[i] << " times " << ratios[i]);
      auto shifted = int32_t(uint32_t(int64_t(data[i]) - int64_t(zeroPoints[i])));
      int32_t moved = Factor(ratios[i]).times(shifted, roundsUpward);
      CHECK(int32_t(results[i]) == int32_t(uint32_t(moved) + 7));
    }
  }
}
