// References may run anywhere, in circles too, and share parts as they like: so this writes from a
// stack of what is still to come, and gives up when the text gets long.
#include "parser/resolve/index_map_text.h"

#include "parser/resolve/metadata_fields.h"

#include <fmt/format.h>
#include <unordered_map>
#include <variant>

namespace parser {

using lang::MetadataNode;
using lang::MetadataTable;

namespace {

constexpr size_t longestText = 1 << 16;

/// How an operation is written. Indices are not negative, so that divisions round alike.
std::string_view signOf(std::string_view key) {
  static constexpr std::pair<std::string_view, std::string_view> signs[] = {
      {"tir.Add", " + "},  {"tir.Sub", " - "},      {"tir.Mul", " * "}, {"tir.FloorDiv", " // "},
      {"tir.Div", " // "}, {"tir.FloorMod", " % "}, {"tir.Mod", " % "},
  };
  for (const auto& [name, sign] : signs)
    if (name == key)
      return sign;
  return {};
}

class MapWriter {
public:
  explicit MapWriter(const MetadataTable& table) : table_(table) {}

  /// False when there is no text.
  bool write(const MetadataNode& map) {
    const MetadataNode* from = objectOf(table_, fieldOf(map, "initial_indices"));
    const MetadataNode* to = objectOf(table_, fieldOf(map, "final_indices"));
    if (!from || !to || from->typeKey != "Array" || to->typeKey != "Array")
      return false;
    for (size_t number : from->data) {
      std::string name = fmt::format("i{}", names_.size());
      text_ += (names_.empty() ? "" : ", ") + name;
      names_.try_emplace(&table_.nodes[number], name);
    }
    text_ += " ->";
    for (size_t i = 0; i < to->data.size(); ++i) {
      text_ += i == 0 ? " " : ", ";
      if (!writeIndex(table_.nodes[to->data[i]]))
        return false;
    }
    return true;
  }

  std::string take() { return std::move(text_); }

private:
  using Piece = std::variant<const MetadataNode*, std::string_view>;

  bool writeIndex(const MetadataNode& index) {
    std::vector<Piece> pieces{&index};
    while (!pieces.empty()) {
      Piece piece = pieces.back();
      pieces.pop_back();
      if (const auto* sign = std::get_if<std::string_view>(&piece))
        text_ += *sign;
      else if (!writeObject(*std::get<const MetadataNode*>(piece), pieces))
        return false;
      if (text_.size() > longestText || pieces.size() > longestText)
        return false;
    }
    return true;
  }

  /// Writes an object without parts, or puts its parts on the stack, the first one on top.
  bool writeObject(const MetadataNode& node, std::vector<Piece>& pieces) {
    if (auto name = names_.find(&node); name != names_.end()) {
      text_ += name->second;
      return true;
    }
    if (node.typeKey == "IntImm") {
      auto value = numberOf(fieldOf(node, "value"));
      text_ += value ? std::to_string(*value) : "";
      return value.has_value();
    }
    if (node.typeKey == "tir.Cast")
      return push(pieces, fieldOf(node, "value"));
    std::string_view sign = signOf(node.typeKey);
    if (sign.empty())
      return false;
    text_ += "(";
    pieces.push_back(")");
    bool isGood = push(pieces, fieldOf(node, "b"));
    pieces.push_back(sign);
    return push(pieces, fieldOf(node, "a")) && isGood;
  }

  bool push(std::vector<Piece>& pieces, std::string_view field) {
    const MetadataNode* part = objectOf(table_, field);
    pieces.push_back(part);
    // A cast writes nothing, so that a circle of casts alone would not get long.
    return part && ++steps_ <= longestText;
  }

  const MetadataTable& table_;
  std::unordered_map<const MetadataNode*, std::string> names_;
  std::string text_;
  size_t steps_ = 0;
};

} // namespace

std::string indexMapText(const MetadataTable& table, const MetadataNode& map) {
  MapWriter writer(table);
  return writer.write(map) ? writer.take() : std::string();
}

} // namespace parser
