// Literals. Whether enough digits are there is decided by reading them back, in the way of the
// lexer: to double first, then to the width.
#include "lang/print/literals.h"

#include "runtime/half.h"

#include <cfloat>
#include <charconv>

#include <fmt/format.h>

namespace lang::printing {

namespace {

using runtime::Half;

/// True when both are the same number of `bits` bits.
bool sameReal(double left, double right, int bits) {
  if (bits == 16)
    return Half(runtime::floatRoundedToOdd(left)).bits ==
           Half(runtime::floatRoundedToOdd(right)).bits;
  return bits == 32 ? float(left) == float(right) : left == right;
}

/// The digits of a finite number, at least six significant ones asked for.
std::string digitsOf(double value, int bits) {
  char buffer[64];
  for (int precision = 6;; ++precision) {
    auto written =
        std::to_chars(buffer, std::end(buffer), value, std::chars_format::general, precision);
    double back = 0;
    auto read = std::from_chars(buffer, written.ptr, back);
    if (precision == 17 || (read.ec == std::errc{} && sameReal(value, back, bits)))
      return {buffer, written.ptr};
  }
}

std::string realText(double value, int bits, int suffix) {
  std::string text = std::isnan(value)   ? (std::signbit(value) ? "-nan" : "nan")
                     : std::isinf(value) ? (value < 0 ? "-inf" : "inf")
                                         : digitsOf(value, bits);
  text += 'f';
  return suffix == 32 ? text : text + std::to_string(suffix);
}

} // namespace

std::string floatLiteral(double value, int bits) {
  return realText(value, bits, bits);
}

std::string floatAttributeText(double value, int width) {
  bool isLarge = std::isfinite(value) && std::fabs(value) > double(FLT_MAX);
  return realText(value, 64, isLarge ? 64 : width);
}

std::string integerText(int64_t value, int width) {
  return width == 32 ? std::to_string(value) : fmt::format("{}i{}", value, width);
}

std::string quotedText(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    switch (c) {
    case '"':
    case '\\':
      result += '\\';
      result += c;
      break;
    case '\t':
      result += "\\t";
      break;
    case '\r':
      result += "\\r";
      break;
    case '\n':
      result += "\\n";
      break;
    default:
      if (byte >= 0x20 && byte <= 0x7E)
        result += c;
      else
        result += fmt::format("\\x{:02X}", byte);
    }
  }
  return result + '"';
}

namespace {

/// Whether a float is a NaN with other bits than `nanf` and `-nanf` stand for.
bool isOddNan(uint64_t bits, runtime::DType dtype) {
  int fraction = dtype == runtime::Float16 ? 10 : dtype == runtime::Float32 ? 23 : 52;
  uint64_t magnitude = bits & ((uint64_t(1) << (dtype.bits - 1)) - 1);
  uint64_t infinity = ((uint64_t(1) << (dtype.bits - 1 - fraction)) - 1) << fraction;
  return magnitude > infinity && magnitude != (infinity | uint64_t(1) << (fraction - 1));
}

/// A scalar of these bits.
std::optional<std::string> scalarLiteral(runtime::DType dtype, uint64_t bits) {
  if (dtype == runtime::Bool)
    return (bits & 1) != 0 ? "True" : "False";
  if (dtype == runtime::Int16)
    return integerText(int16_t(bits), 16);
  if (dtype == runtime::Int32)
    return integerText(int32_t(bits), 32);
  if (dtype == runtime::Int64)
    return integerText(int64_t(bits), 64);
  bool isLiteralFloat =
      dtype == runtime::Float16 || dtype == runtime::Float32 || dtype == runtime::Float64;
  if (!isLiteralFloat || isOddNan(bits, dtype))
    return std::nullopt;
  if (dtype == runtime::Float32)
    return floatLiteral(std::bit_cast<float>(uint32_t(bits)), 32);
  if (dtype == runtime::Float64)
    return floatLiteral(std::bit_cast<double>(bits), 64);
  Half half;
  half.bits = uint16_t(bits);
  return floatLiteral(float(half), 16);
}

/// The elements in brackets, those of each dimension in brackets of their own.
std::optional<std::string> listLiteral(const runtime::Tensor& tensor) {
  std::string text;
  size_t width = tensor.dtype().bytes();
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes() + size_t(i) * width, std::min(width, sizeof(bits)));
    auto element = scalarLiteral(tensor.dtype(), bits);
    if (!element)
      return std::nullopt;
    int64_t inside = 1;
    std::string opened, closed;
    for (size_t axis = tensor.rank(); axis-- > 0;) {
      inside *= tensor.shape()[axis];
      opened += i % inside == 0 ? "[" : "";
      closed += (i + 1) % inside == 0 ? "]" : "";
    }
    text += (i > 0 ? ", " : "") + opened + *element + closed;
  }
  return text;
}

} // namespace

std::optional<std::string> constantLiteral(const Constant& constant, int64_t mostElements) {
  if (!constant.tensor)
    return scalarLiteral(constant.type->dtype, constant.bits);
  const runtime::Tensor& tensor = *constant.tensor;
  bool isWritten = tensor.rank() == 0 || (tensor.size() > 0 && tensor.size() <= mostElements);
  return isWritten ? listLiteral(tensor) : std::nullopt;
}

} // namespace lang::printing
