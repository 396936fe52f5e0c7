// Numbers and types within values.
#include "lower/tensor/read_value.h"

namespace tensor {

std::optional<runtime::DType> readTypeArgument(text::Cursor& line) {
  if (!line.takeIf("<"))
    return std::nullopt;
  const text::Token& type = line.word("an element type");
  auto dtype = runtime::parseDType(type.text);
  if (!dtype)
    text::refuseAt(type, fmt::format("`{}` is no element type", type.text));
  line.expect(">");
  return dtype;
}

bool isAtNumber(const text::Cursor& line) {
  bool isNegative = line.is("-") && line.peekSecond().kind != text::TokenKind::Sign;
  const text::Token& first = isNegative ? line.peekSecond() : line.peek();
  return first.kind == text::TokenKind::Number || first.text == "inf" || first.text == "nan";
}

NumberText readNumber(text::Cursor& line, runtime::DType dtype) {
  bool isNegative = line.takeIf("-");
  const text::Token& first = line.take();
  std::string text = (isNegative ? "-" : "") + std::string(first.text);
  auto number = numberOf(text, dtype);
  if (!number)
    text::refuseAt(first,
                   fmt::format("`{}` is no number of type {}", text, runtime::dtypeName(dtype)));
  return *number;
}

} // namespace tensor
