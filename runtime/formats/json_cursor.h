// A place in a JSON text, for reading it in the order in which somebody wants its parts.
//
// The text was found to be JSON before, so there is nothing to check on the way. Where lists and
// objects end is known, so that what is passed over costs nothing, however deep it is.
#pragma once

#include "runtime/result.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace formats {

class JsonText {
public:
  /// An error, with its place, when the text is not JSON.
  static runtime::Result<JsonText> read(std::string text);

  std::string_view text() const { return text_; }
  /// The place behind the value that begins at `at`.
  size_t endOf(size_t at) const;

private:
  std::string text_;
  /// Of each list and object its begin and end, in order.
  std::vector<std::pair<size_t, size_t>> brackets_;
};

class JsonCursor {
public:
  explicit JsonCursor(const JsonText& json, size_t at = 0) : json_(&json), at_(at) { skipBlanks(); }

  size_t at() const { return at_; }
  /// How the value here begins: `{`, `[`, `"`, or something of a number or word.
  char kind() const { return json_->text()[at_]; }
  /// The value here as it is written.
  std::string_view written() const { return json_->text().substr(at_, json_->endOf(at_) - at_); }
  /// The string here without quotes and escapes.
  std::string string() const;
  /// Of a list its first item; nothing of an empty one.
  std::optional<JsonCursor> first() const;
  /// Of an item the next one of its list; nothing behind the last one.
  std::optional<JsonCursor> next() const;
  /// Of an object the value of a member, the last of that name.
  std::optional<JsonCursor> member(std::string_view name) const;
  /// Of an object its names, in order.
  std::vector<std::string> names() const;

private:
  void skipBlanks();
  /// Goes behind `length` letters and what blanks follow.
  JsonCursor behind(size_t length) const { return JsonCursor(*json_, at_ + length); }
  /// Calls `visit(name, value)` for each member of an object.
  template <typename Visit>
  void forEachMember(Visit&& visit) const;

  const JsonText* json_;
  size_t at_;
};

} // namespace formats
