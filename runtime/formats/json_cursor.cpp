// Whether a text is JSON is asked of nlohmann's parser, which does not recurse.
#include "runtime/formats/json_cursor.h"

#include "runtime/formats/quote.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace formats {

using runtime::Error;
using runtime::Result;

namespace {

/// The place behind a string that begins at `at`.
size_t endOfString(std::string_view text, size_t at) {
  for (++at; text[at] != '"'; ++at)
    at += text[at] == '\\';
  return at + 1;
}

/// Takes all events, for the place of an error alone.
struct Events : nlohmann::json_sax<nlohmann::json> {
  size_t wrongAt = 0;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    wrongAt = position;
    return false;
  }
};

} // namespace

Result<JsonText> JsonText::read(std::string text) {
  constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(byteOrderMark))
    text.erase(0, byteOrderMark.size());
  Events events;
  if (!nlohmann::json::sax_parse(text, &events))
    return Error{fmt::format("it is not JSON: it goes wrong at byte {}", events.wrongAt)};
  JsonText json;
  json.text_ = std::move(text);
  std::vector<size_t> open;
  for (size_t at = 0; at < json.text_.size(); ++at) {
    char letter = json.text_[at];
    if (letter == '"') {
      at = endOfString(json.text_, at) - 1;
    } else if (letter == '[' || letter == '{') {
      open.push_back(json.brackets_.size());
      json.brackets_.emplace_back(at, 0);
    } else if (letter == ']' || letter == '}') {
      json.brackets_[open.back()].second = at + 1;
      open.pop_back();
    }
  }
  return json;
}

size_t JsonText::endOf(size_t at) const {
  if (text_[at] == '"')
    return endOfString(text_, at);
  if (text_[at] == '[' || text_[at] == '{')
    return std::lower_bound(brackets_.begin(), brackets_.end(), std::pair(at, size_t(0)))->second;
  return std::min(text_.find_first_of(",]} \t\r\n", at), text_.size());
}

void JsonCursor::skipBlanks() {
  at_ = std::min(json_->text().find_first_not_of(" \t\r\n", at_), json_->text().size());
}

std::string JsonCursor::string() const {
  std::string_view quoted = written();
  if (quoted.find('\\') == std::string_view::npos)
    return std::string(quoted.substr(1, quoted.size() - 2));
  return nlohmann::json::parse(quoted).get<std::string>();
}

std::optional<JsonCursor> JsonCursor::first() const {
  JsonCursor item = behind(1);
  return item.kind() == ']' ? std::nullopt : std::optional(item);
}

std::optional<JsonCursor> JsonCursor::next() const {
  JsonCursor next = behind(written().size());
  return next.kind() == ',' ? std::optional(next.behind(1)) : std::nullopt;
}

template <typename Visit>
void JsonCursor::forEachMember(Visit&& visit) const {
  for (JsonCursor name = behind(1); name.kind() == '"';) {
    JsonCursor value = name.behind(name.written().size()).behind(1);
    visit(name.string(), value);
    JsonCursor next = value.behind(value.written().size());
    name = next.kind() == ',' ? next.behind(1) : next;
  }
}

std::optional<JsonCursor> JsonCursor::member(std::string_view name) const {
  std::optional<JsonCursor> found;
  forEachMember([&](const std::string& each, const JsonCursor& value) {
    if (each == name)
      found = value;
  });
  return found;
}

std::vector<std::string> JsonCursor::names() const {
  std::vector<std::string> names;
  forEachMember([&](std::string each, const JsonCursor&) { names.push_back(std::move(each)); });
  return names;
}

} // namespace formats
