// The names of operators that texts of values mention.
#include "stdlib/value_calls.h"

#include "runtime/short_names.h"

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

/// Takes `, dtype="int8")` away from the back, or `, dtype = i8)`.
std::optional<runtime::DType> skipDtype(std::string_view& text) {
  if (!skipBehind(text, ")"))
    return std::nullopt;
  bool isQuoted = skipBehind(text, "\"");
  size_t before = text.find_last_of(isQuoted ? "\"" : "= ");
  if (before == std::string_view::npos)
    return std::nullopt;
  std::string_view name = text.substr(before + 1);
  auto dtype = isQuoted ? runtime::parseDType(name) : runtime::parseShortDType(name);
  text = text.substr(0, isQuoted ? before : before + 1);
  bool isThere = skipBehind(text, "=") && skipBehind(text, "dtype") && skipBehind(text, ",");
  return isThere ? dtype : std::nullopt;
}

/// Of `shape=[0, 3]`, or of `[0, 3]`.
std::optional<runtime::Shape> shapeOf(std::string_view text) {
  if (skip(text, "shape") && !skip(text, "="))
    return std::nullopt;
  if (!skip(text, "[") || !skipBehind(text, "]"))
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
