// Fields of metadata objects: texts, of which only the type of the object tells which are numbers
// and which are numbers of other objects.
#pragma once

#include "lang/ir/metadata.h"

#include <charconv>
#include <optional>

namespace parser {

/// The text of a field; empty when there is none.
inline std::string_view fieldOf(const lang::MetadataNode& node, std::string_view name) {
  for (const auto& [key, value] : node.fields)
    if (key == name)
      return value;
  return {};
}

/// The number that a field is; nothing when it is none.
inline std::optional<int64_t> numberOf(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool isNumber = error == std::errc{} && end == text.data() + text.size();
  return isNumber ? std::optional(value) : std::nullopt;
}

/// The object that a field refers to; null when it refers to none.
inline const lang::MetadataNode* objectOf(const lang::MetadataTable& table, std::string_view text) {
  auto number = numberOf(text);
  bool isObject = number && *number >= 0 && size_t(*number) < table.nodes.size();
  return isObject ? &table.nodes[size_t(*number)] : nullptr;
}

} // namespace parser
