// Elements of tensors as numbers and back.
#pragma once

#include "runtime/scalar.h"

namespace runtime {

inline double readFloat(DType dtype, const std::byte* from) {
  auto as = [&](auto value) {
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  if (dtype.bits == 64)
    return as(double());
  if (dtype.bits == 32)
    return as(float());
  return dtype.code == DTypeCode::BFloat ? float(as(BHalf())) : float(as(Half()));
}

/// `value` is one of the type.
inline void writeFloat(DType dtype, std::byte* to, double value) {
  auto put = [&](auto number) { std::memcpy(to, &number, sizeof number); };
  if (dtype.bits == 64)
    put(value);
  else if (dtype.bits == 32)
    put(float(value));
  else if (dtype.code == DTypeCode::BFloat)
    put(BHalf(float(value)));
  else
    put(Half(float(value)));
}

inline int64_t readWhole(DType dtype, const std::byte* from) {
  // Of one size at a time: a load of eight bytes would wait for the store of the four before it.
  auto as = [&](auto value) {
    std::memcpy(&value, from, sizeof value);
    return wrap(dtype, value);
  };
  if (dtype.bits > 32)
    return as(uint64_t());
  if (dtype.bits > 16)
    return as(uint32_t());
  return dtype.bits > 8 ? as(uint16_t()) : as(uint8_t());
}

inline void writeWhole(DType dtype, std::byte* to, int64_t whole) {
  std::memcpy(to, &whole, dtype.bytes());
}

} // namespace runtime
