// Choosing a C++ type for the elements of a tensor, for native functions.
//
// Bool is stored in bytes and visited as uint8_t; the 16-bit floats are types of their own that
// convert to float, so functions compare and add elements through `wide`.
#pragma once

#include "runtime/half.h"
#include "runtime/tensor.h"

#include <cmath>
#include <type_traits>

namespace natives {

/// Whether some function of this room computes with such elements.
inline bool isKnown(runtime::DType dtype) {
  return dtype.isComputable() && dtype.lanes == 1;
}

/// Calls `visit` with a value of the C++ type of the elements; false when no engine computes with
/// the element type.
template <typename Visit>
bool visitElementType(runtime::DType dtype, Visit&& visit) {
  if (!isKnown(dtype))
    return false;
  if (dtype.code == runtime::DTypeCode::BFloat) {
    visit(runtime::BHalf());
    return true;
  }
  bool isFloat = dtype.isFloat(), isSigned = dtype.isSigned();
  switch (dtype.bytes()) {
  case 1:
    isSigned ? visit(int8_t()) : visit(uint8_t());
    return true;
  case 2:
    isFloat ? visit(runtime::Half()) : isSigned ? visit(int16_t()) : visit(uint16_t());
    return true;
  case 4:
    isFloat ? visit(float()) : isSigned ? visit(int32_t()) : visit(uint32_t());
    return true;
  case 8:
    isFloat ? visit(double()) : isSigned ? visit(int64_t()) : visit(uint64_t());
    return true;
  default:
    return false;
  }
}

template <typename T>
inline constexpr bool isHalf =
    std::is_same_v<T, runtime::Half> || std::is_same_v<T, runtime::BHalf>;

/// The element as a type with arithmetic: the 16-bit floats as float, others as they are.
template <typename T>
auto wide(T element) {
  if constexpr (isHalf<T>)
    return float(element);
  else
    return element;
}

/// The type that `wide` gives.
template <typename T>
using Wide = decltype(wide(T()));

/// The total order that sorting uses: NaN is larger than every number and equal to itself.
template <typename T>
bool comesBefore(T left, T right) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(left) || std::isnan(right))
      return !std::isnan(left) && std::isnan(right);
  }
  return left < right;
}

} // namespace natives
