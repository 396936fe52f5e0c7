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
  uint64_t bits = 0;
  std::memcpy(&bits, from, dtype.bytes());
  return wrap(dtype, bits);
}

inline void writeWhole(DType dtype, std::byte* to, int64_t whole) {
  std::memcpy(to, &whole, dtype.bytes());
}

} // namespace runtime
