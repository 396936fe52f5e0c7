// The names of operators that texts of values mention.
#include "stdlib/value_calls.h"

#include <charconv>
#include <fmt/format.h>

namespace stdlib {

namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Takes `token`, and the blanks around it, away from the front, or from the back.
bool skip(std::string_view& text, std::string_view token) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  if (!text.starts_with(token))
    return false;
  text.remove_prefix(token.size());
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return true;
}

bool skipBehind(std::string_view& text, std::string_view token) {
  text = text.substr(0, text.find_last_not_of(blanks) + 1);
  if (!text.ends_with(token))
    return false;
  text.remove_suffix(token.size());
  text = text.substr(0, text.find_last_not_of(blanks) + 1);
  return true;
}

/// Takes `, dtype="int8")` away from the back.
std::optional<runtime::DType> skipDtype(std::string_view& text) {
  if (!skipBehind(text, ")") || !skipBehind(text, "\""))
    return std::nullopt;
  size_t quote = text.rfind('"');
  if (quote == std::string_view::npos)
    return std::nullopt;
  auto dtype = runtime::parseDType(text.substr(quote + 1));
  text = text.substr(0, quote);
  bool isThere = skipBehind(text, "=") && skipBehind(text, "dtype") && skipBehind(text, ",");
  return isThere ? dtype : std::nullopt;
}

/// Of `shape=[0, 3]`.
std::optional<runtime::Shape> shapeOf(std::string_view text) {
  if (!skip(text, "shape") || !skip(text, "=") || !skip(text, "[") || !skipBehind(text, "]"))
    return std::nullopt;
  runtime::Shape shape;
  while (!text.empty()) {
    auto end = std::from_chars(text.data(), text.data() + text.size(), shape.emplace_back());
    if (end.ec != std::errc() || shape.back() < 0)
      return std::nullopt;
    text.remove_prefix(size_t(end.ptr - text.data()));
    if (!skip(text, ",") && !text.empty())
      return std::nullopt;
  }
  return shape;
}

} // namespace

std::string castText(std::string_view value, runtime::DType dtype) {
  return fmt::format("cast({}, dtype=\"{}\")", value, runtime::dtypeName(dtype));
}

std::string zerosText(const runtime::Shape& shape, runtime::DType dtype) {
  return fmt::format("zeros(shape=[{}], dtype=\"{}\")", fmt::join(shape, ", "),
                     runtime::dtypeName(dtype));
}

std::optional<ValueCall> readValueCall(std::string_view text) {
  bool isCast = skip(text, "cast");
  if ((!isCast && !skip(text, "zeros")) || !skip(text, "("))
    return std::nullopt;
  auto dtype = skipDtype(text);
  auto shape = isCast ? std::nullopt : shapeOf(text);
  if (!dtype || !(isCast || shape))
    return std::nullopt;
  return ValueCall{*dtype, isCast ? text : std::string_view(), std::move(shape)};
}

} // namespace stdlib
