// Means: sums that must not overflow or wrap before they are divided.
//
// The sum of a type may be larger than the type can hold where their mean is not: 70,000 ones of
// float16, or 256 of uint8, whose very count wraps. So such sums and counts are wide, and there is
// one cast at the end.
#pragma once

#include "lang/op/compute.h"

namespace stdlib {

/// The type that sums of numbers of `dtype` are kept in until they are divided.
inline runtime::DType wideDType(runtime::DType dtype) {
  bool isUnsigned = !dtype.isFloat() && !dtype.isSigned();
  return dtype.isFloat() ? runtime::Float64 : isUnsigned ? runtime::UInt64 : runtime::Int64;
}

inline lang::Scalar widened(lang::Scalar value) {
  return cast(value, wideDType(value.dtype()));
}

/// A constant of type `dtype`, so rounded to it, in calculations with such sums.
inline lang::Scalar wideNumber(const lang::ComputeCall& call, runtime::DType dtype, double value) {
  return widened(call.number(dtype, value));
}

/// `sum`, which is wide, over a count as a number of `dtype`; integers truncate toward zero.
inline lang::Scalar average(lang::Scalar sum, lang::Scalar count, runtime::DType dtype) {
  return cast(sum / cast(count, sum.dtype()), dtype);
}

} // namespace stdlib
