// Element types of tensors, as the text format and the kernels know them.
//
// runtime/ is the lowest room of the house: what ships with a compiled model. It knows nothing of
// the language. Start with dtype.h, then tensor.h, then value.h.
//
// `bool` is the unsigned integer of one bit, as in Relay; it is stored in one byte, 0 or 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runtime {

/// What the bits of an element mean. The numbers are those of the tensor blobs in metadata.
enum class DTypeCode : uint8_t { Int = 0, UInt = 1, Float = 2, Handle = 3, BFloat = 4 };

/// The type of one element: code, width in bits, and vector lanes (1 for all but blocked layouts).
struct DType {
  DTypeCode code = DTypeCode::Float;
  uint8_t bits = 32;
  uint16_t lanes = 1;

  friend bool operator==(DType, DType) = default;

  bool isBool() const { return code == DTypeCode::UInt && bits == 1; }
  bool isFloat() const { return code == DTypeCode::Float || code == DTypeCode::BFloat; }
  bool isSigned() const { return code == DTypeCode::Int; }
  /// True for signed and unsigned integers; false for bool.
  bool isInteger() const {
    return code == DTypeCode::Int || (code == DTypeCode::UInt && bits != 1);
  }
  /// Bytes that one element takes in a tensor's buffer.
  size_t bytes() const { return (size_t(bits) + 7) / 8 * lanes; }
  /// True when the engines can compute with it: bool, 8 to 64 bit integers, the four floats.
  bool isComputable() const;
};

inline constexpr DType Bool{DTypeCode::UInt, 1};
inline constexpr DType Int8{DTypeCode::Int, 8};
inline constexpr DType Int16{DTypeCode::Int, 16};
inline constexpr DType Int32{DTypeCode::Int, 32};
inline constexpr DType Int64{DTypeCode::Int, 64};
inline constexpr DType UInt8{DTypeCode::UInt, 8};
inline constexpr DType UInt16{DTypeCode::UInt, 16};
inline constexpr DType UInt32{DTypeCode::UInt, 32};
inline constexpr DType UInt64{DTypeCode::UInt, 64};
inline constexpr DType Float16{DTypeCode::Float, 16};
inline constexpr DType Float32{DTypeCode::Float, 32};
inline constexpr DType Float64{DTypeCode::Float, 64};
inline constexpr DType BFloat16{DTypeCode::BFloat, 16};

/// The name in the text format: `float32`, `bool`, `int8x4`.
std::string dtypeName(DType dtype);

/// Reads a name as the text format does: `int`, `uint` and `float` mean 32 bits, `uint1` is bool.
/// Nothing when the name is no element type or has a width of zero or above 128 bits.
std::optional<DType> parseDType(std::string_view name);

} // namespace runtime
