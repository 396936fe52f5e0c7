// The two 16-bit floats, which no portable C++20 type offers. They store; arithmetic is done in
// float and rounded back (nearest even), which is exact for + - * / and sqrt.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace runtime {

/// IEEE binary16.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) : bits(pack(value)) {}
  explicit operator float() const {
    uint32_t sign = uint32_t(bits & 0x8000u) << 16;
    uint32_t exponent = (bits >> 10) & 0x1Fu, mantissa = bits & 0x3FFu;
    if (exponent == 0x1F)
      return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
    if (exponent != 0)
      return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
    float value = std::ldexp(float(mantissa), -24);
    return sign ? -value : value;
  }

private:
  static uint16_t pack(float value) {
    uint32_t word = std::bit_cast<uint32_t>(value);
    uint16_t sign = uint16_t((word >> 16) & 0x8000u);
    uint32_t magnitude = word & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
      return sign | 0x7E00u;
    if (magnitude >= 0x477FF000u)
      return sign | 0x7C00u;
    if (magnitude < 0x38800000u) {
      float scaled = std::ldexp(std::bit_cast<float>(magnitude), 24);
      return sign | uint16_t(std::nearbyint(scaled));
    }
    uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
    return sign | uint16_t((rounded - 0x38000000u) >> 13);
  }
};

/// bfloat16: the upper half of a binary32.
struct BHalf {
  uint16_t bits = 0;

  BHalf() = default;
  explicit BHalf(float value) {
    uint32_t word = std::bit_cast<uint32_t>(value);
    if (std::isnan(value))
      bits = uint16_t((word >> 16) | 0x40u);
    else
      bits = uint16_t((word + 0x7FFFu + ((word >> 16) & 1u)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

/// Rounds a double to binary16 once: through float with round-to-odd, so that there is no double
/// rounding.
inline float floatRoundedToOdd(double value) {
  float nearest = float(value);
  if (double(nearest) == value || std::isnan(value) || std::isinf(nearest))
    return nearest;
  uint32_t word = std::bit_cast<uint32_t>(nearest);
  bool tooLarge = std::fabs(double(nearest)) > std::fabs(value);
  if (tooLarge)
    word -= 1;
  return std::bit_cast<float>(word | 1u);
}

} // namespace runtime
