// How loops store one element.
//
// Storage and arithmetic differ for three types: bool is a byte that computes modulo 2, and the two
// 16-bit floats compute in float and round after every function. `Compute<T>`, `widen` and `narrow`
// are the bridge.
#pragma once

#include "runtime/dtype.h"
#include "runtime/half.h"

#include <cstddef>
#include <type_traits>

namespace lower {

/// The storage of one element of a strip or a tensor.
enum class Element : uint8_t {
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64
};

/// A bool: 0 or 1. Arithmetic is that of an unsigned integer of one bit.
struct Bit {
  uint8_t value;
};

/// The storage for a dtype that isComputable().
inline Element elementOf(runtime::DType dtype) {
  if (dtype.isBool())
    return Element::Bool;
  if (dtype.code == runtime::DTypeCode::BFloat)
    return Element::BFloat16;
  if (dtype.code == runtime::DTypeCode::Float)
    return dtype.bits == 16   ? Element::Float16
           : dtype.bits == 32 ? Element::Float32
                              : Element::Float64;
  int width = dtype.bits == 8 ? 0 : dtype.bits == 16 ? 1 : dtype.bits == 32 ? 2 : 3;
  return Element(int(dtype.isSigned() ? Element::Int8 : Element::UInt8) + width);
}

inline bool isFloat(Element element) {
  return element >= Element::Float16;
}

/// The type with loops of its own that holds all values of `element`, and computes like it when the
/// results are converted back.
inline Element wideElement(Element element) {
  switch (element) {
  case Element::Int8:
  case Element::Int16:
  case Element::UInt8:
  case Element::UInt16:
    return Element::Int32;
  case Element::UInt32:
    return Element::Int64;
  case Element::Float16:
  case Element::BFloat16:
    return Element::Float32;
  default:
    return element;
  }
}

inline size_t elementBytes(Element element) {
  static constexpr uint8_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return sizes[size_t(element)];
}

template <typename T>
struct ComputeOf {
  using type = T;
};
template <>
struct ComputeOf<Bit> {
  using type = uint8_t;
};
template <>
struct ComputeOf<runtime::Half> {
  using type = float;
};
template <>
struct ComputeOf<runtime::BHalf> {
  using type = float;
};

/// The type in which functions of `T` are computed.
template <typename T>
using Compute = typename ComputeOf<T>::type;

template <typename T>
inline Compute<T> widen(const T& value) {
  if constexpr (std::is_same_v<T, Bit>)
    return value.value;
  else
    return Compute<T>(value);
}

template <typename T>
inline T narrow(Compute<T> value) {
  if constexpr (std::is_same_v<T, Bit>)
    return Bit{uint8_t(value & 1u)};
  else
    return T(value);
}

template <typename T>
struct ElementTag {
  using type = T;
};

/// Calls `visit` with the ElementTag of an element type.
template <typename Visit>
decltype(auto) withOwnElement(Element element, Visit&& visit) {
  switch (element) {
  case Element::Bool:
    return visit(ElementTag<Bit>{});
  case Element::Int8:
    return visit(ElementTag<int8_t>{});
  case Element::Int16:
    return visit(ElementTag<int16_t>{});
  case Element::Int32:
    return visit(ElementTag<int32_t>{});
  case Element::Int64:
    return visit(ElementTag<int64_t>{});
  case Element::UInt8:
    return visit(ElementTag<uint8_t>{});
  case Element::UInt16:
    return visit(ElementTag<uint16_t>{});
  case Element::UInt32:
    return visit(ElementTag<uint32_t>{});
  case Element::UInt64:
    return visit(ElementTag<uint64_t>{});
  case Element::Float16:
    return visit(ElementTag<runtime::Half>{});
  case Element::BFloat16:
    return visit(ElementTag<runtime::BHalf>{});
  case Element::Float32:
    return visit(ElementTag<float>{});
  default:
    return visit(ElementTag<double>{});
  }
}

} // namespace lower
