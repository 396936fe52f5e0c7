// What the text of a float stands for is compared with its bits, so no pattern is lost.
#include "vm/assembly/numbers.h"

namespace assembly {

using runtime::DType;

namespace {

std::string bitsText(DType dtype, const std::byte* element) {
  std::string text = "0x";
  for (size_t i = dtype.bytes(); i-- > 0;)
    text += fmt::format("{:02x}", uint8_t(element[i]));
  return text;
}

bool readBits(DType dtype, std::string_view digits, std::byte* element) {
  if (digits.size() != 2 * dtype.bytes())
    return false;
  for (size_t i = 0; i < dtype.bytes(); ++i) {
    uint8_t byte = 0;
    const char* at = digits.data() + digits.size() - 2 * (i + 1);
    if (auto end = std::from_chars(at, at + 2, byte, 16); end.ptr != at + 2)
      return false;
    element[i] = std::byte(byte);
  }
  return true;
}

bool readFloatText(DType dtype, std::string_view text, std::byte* element) {
  double value = 0;
  float narrow = 0;
  if (dtype.bits == 64 ? !readNumber(text, value) : !readNumber(text, narrow))
    return false;
  runtime::writeFloat(dtype, element, dtype.bits == 64 ? value : double(narrow));
  return true;
}

bool readWholeText(DType dtype, std::string_view text, std::byte* element) {
  int64_t whole = 0;
  uint64_t large = 0;
  if (dtype.code == runtime::DTypeCode::UInt) {
    if (!readNumber(text, large))
      return false;
    whole = int64_t(large);
  } else if (!readNumber(text, whole)) {
    return false;
  }
  runtime::writeWhole(dtype, element, whole);
  return runtime::readWhole(dtype, element) == whole;
}

std::string plainText(DType dtype, const std::byte* element) {
  if (dtype.isFloat()) {
    double value = runtime::readFloat(dtype, element);
    return dtype.bits == 64 ? fmt::format("{}", value) : fmt::format("{}", float(value));
  }
  if (dtype.isBool())
    return *element == std::byte(1) ? "true" : "false";
  int64_t whole = runtime::readWhole(dtype, element);
  return dtype.code == runtime::DTypeCode::UInt ? fmt::format("{}", uint64_t(whole))
                                                : fmt::format("{}", whole);
}

} // namespace

std::string elementText(DType dtype, const std::byte* element) {
  if (!dtype.isComputable() || dtype.lanes != 1)
    return bitsText(dtype, element);
  std::string text = plainText(dtype, element);
  std::byte again[8] = {};
  bool isSame = readElement(dtype, text, again) && std::memcmp(again, element, dtype.bytes()) == 0;
  return isSame ? text : bitsText(dtype, element);
}

bool readElement(DType dtype, std::string_view text, std::byte* element) {
  if (text.starts_with("0x"))
    return readBits(dtype, text.substr(2), element);
  if (!dtype.isComputable() || dtype.lanes != 1)
    return false;
  if (dtype.isBool()) {
    *element = std::byte(text == "true");
    return text == "true" || text == "false";
  }
  return dtype.isFloat() ? readFloatText(dtype, text, element)
                         : readWholeText(dtype, text, element);
}

} // namespace assembly
