// Functions of float32 for strips, without branches and calls, so that the compiler makes vectors
// of their loops. They err by a few units in the last place; tests/unit/float_functions_test.cpp
// says by how many. Builds that are made small call the C library.
#pragma once

#include "lower/elements/made_small.h"
#include "runtime/scalar_meaning.h"

#include <bit>
#include <cstdint>
#include <limits>

namespace lower {

using runtime::ScalarFunction;

/// 2 to the power of a whole number from -126 to 127.
inline __attribute__((always_inline)) float powerOfTwo(int32_t exponent) {
  return std::bit_cast<float>((exponent + 127) << 23);
}

/// e^x: x = n ln 2 + r with whole n and |r| <= ln 2 / 2, where a polynomial gives e^r; ln 2 is
/// split into two numbers, the first of which times n is exact. 2^n is applied in two steps, since
/// it may pass the range of float32 where the product does not.
inline __attribute__((always_inline)) float exponential(float x) {
  constexpr float log2e = 1.44269504f, ln2High = 0.693359375f, ln2Low = -2.12194440e-4f;
  // Adding it leaves no digits behind the point.
  constexpr float rounder = 12582912.0f;
  float bounded = x < -104.0f ? -104.0f : x;
  bounded = bounded > 89.0f ? 89.0f : bounded;
  bounded = x == x ? bounded : 0.0f;
  float n = (bounded * log2e + rounder) - rounder;
  float r = (bounded - n * ln2High) - n * ln2Low;
  // The error of e^r is 8e-9.
  float tail = 0.00139421649f;
  tail = tail * r + 0.00836377614f;
  tail = tail * r + 0.0416663634f;
  tail = tail * r + 0.166665734f;
  tail = tail * r + 0.5f;
  float power = (tail * r) * r + r + 1.0f;
  auto whole = int32_t(n);
  int32_t half = whole >> 1;
  float result = power * powerOfTwo(half) * powerOfTwo(whole - half);
  return x == x ? result : x;
}

/// Near zero x (1 + x^2 P(x^2)), which keeps the sign of zero, else 1 - 2 / (e^2|x| + 1) with the
/// sign of x.
inline __attribute__((always_inline)) float hyperbolicTangent(float x) {
  float size = x < 0.0f ? -x : x;
  float square = x * x;
  // The error of P(x^2) x^2 is 6e-10.
  float odd = 0.00229894174f;
  odd = odd * square - 0.0083500083f;
  odd = odd * square + 0.0217709958f;
  odd = odd * square - 0.0539595503f;
  odd = odd * square + 0.13333305f;
  odd = odd * square - 0.333333332f;
  float near = x * (square * odd + 1.0f);
  float far = 1.0f - 2.0f / (exponential(2.0f * size) + 1.0f);
  far = x < 0.0f ? -far : far;
  return size < 0.625f ? near : far;
}

/// A scalar function as strips compute it.
template <ScalarFunction function, typename T>
inline __attribute__((always_inline)) auto stripApplied(const T& a, const T& b, const T& c) {
  if constexpr (isMadeSmall || !std::is_same_v<T, float>)
    return runtime::applied<function>(a, b, c);
  else if constexpr (function == ScalarFunction::Exp)
    return exponential(a);
  else if constexpr (function == ScalarFunction::Tanh)
    return hyperbolicTangent(a);
  else if constexpr (function == ScalarFunction::Sigmoid)
    return 1.0f / (1.0f + exponential(-a));
  else
    return runtime::applied<function>(a, b, c);
}

} // namespace lower
