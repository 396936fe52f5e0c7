// Numbers as text that reads back bit for bit: the shortest decimals, `inf`, `-inf` and `nan`;
// every other pattern of bits, such as a NaN with a payload, stands as `0x` and its digits.
#pragma once

#include "runtime/element.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace assembly {

/// Reads a whole text as a number of any type; false when it is none or does not fit.
template <typename T>
bool readNumber(std::string_view text, T& number) {
  const char *first = text.data(), *last = first + text.size();
  std::from_chars_result end{};
  if constexpr (std::is_floating_point_v<T>) {
    end = std::from_chars(first, last, number);
  } else {
    bool isHex = std::is_unsigned_v<T> && text.starts_with("0x");
    end = std::from_chars(isHex ? first + 2 : first, last, number, isHex ? 16 : 10);
  }
  return end.ec == std::errc() && end.ptr == last;
}

/// What messages call a type of whole numbers.
template <typename T>
std::string numberTypeName() {
  return fmt::format("{}int{}", std::is_signed_v<T> ? "" : "u", 8 * sizeof(T));
}

/// One element of an element type as text.
std::string elementText(runtime::DType dtype, const std::byte* element);
/// Writes the element that a text stands for; false when it stands for none.
bool readElement(runtime::DType dtype, std::string_view text, std::byte* element);

} // namespace assembly
