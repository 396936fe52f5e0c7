// Elements of tensors as numbers and back.
#pragma once

#include "interp/scalar.h"

namespace interp {

inline double readFloat(DType dtype, const std::byte* from) {
  auto as = [&](auto value) {
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  if (dtype.bits == 64)
    return as(double());
  if (dtype.bits == 32)
    return as(float());
  return dtype.code == runtime::DTypeCode::BFloat ? float(as(runtime::BHalf()))
                                                  : float(as(runtime::Half()));
}

/// `value` is one of the type.
inline void writeFloat(DType dtype, std::byte* to, double value) {
  auto put = [&](auto number) { std::memcpy(to, &number, sizeof number); };
  if (dtype.bits == 64)
    put(value);
  else if (dtype.bits == 32)
    put(float(value));
  else if (dtype.code == runtime::DTypeCode::BFloat)
    put(runtime::BHalf(float(value)));
  else
    put(runtime::Half(float(value)));
}

inline int64_t readWhole(DType dtype, const std::byte* from) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, dtype.bytes());
  return wrap(dtype, bits);
}

inline void writeWhole(DType dtype, std::byte* to, int64_t whole) {
  std::memcpy(to, &whole, dtype.bytes());
}

} // namespace interp
