// Writing: lists of numbers stand on one line up to ten, everything else has a line of its own, and
// a comma is followed by a blank even at the end of a line, as in texts that TVM printed.
#include "parser/metadata/base64.h"
#include "parser/metadata/graph.h"
#include "parser/metadata/metadata.h"
#include "parser/metadata/tensor_blob.h"

#include <algorithm>
#include <map>

namespace parser {

using lang::MetadataNode;
using lang::MetadataTable;

namespace {

bool isPrintable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    if (c == '\n')
      quoted += "\\n";
    else if (c == '\t')
      quoted += "\\t";
    else if (c == '\r')
      quoted += "\\r";
    else if (static_cast<unsigned char>(c) < ' ')
      quoted += fmt::format("\\u{:04x}", unsigned(c));
    else
      quoted += c;
  }
  return quoted + '"';
}

/// Items between brackets, one a line at `indent`.
std::string lines(char open, const std::vector<std::string>& items, size_t indent, char close) {
  std::string text(1, open);
  for (size_t i = 0; i < items.size(); ++i)
    text += (i == 0 ? "\n" : ", \n") + std::string(indent, ' ') + items[i];
  if (!items.empty())
    text += "\n" + std::string(indent - 2, ' ');
  return text + close;
}

std::string numbers(const std::vector<size_t>& values, size_t indent) {
  std::vector<std::string> items;
  for (size_t value : values)
    items.push_back(std::to_string(value));
  if (items.size() > 10)
    return lines('[', items, indent, ']');
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string fields(const MetadataNode& node) {
  // In the order of names, as a reader gives them, so that writing again gives the same text.
  std::map<std::string_view, std::string_view> members(node.fields.begin(), node.fields.end());
  for (std::string_view name : demandedReferences(node.typeKey))
    members.emplace(name, "0");
  std::vector<std::string> items;
  for (const auto& [name, value] : members)
    items.push_back(quote(name) + ": " + quote(value));
  if (items.size() == 1)
    return "{" + items[0] + "}";
  return items.empty() ? "" : lines('{', items, 8, '}');
}

std::string nodeText(const MetadataNode& node) {
  std::vector<std::string> members{"\"type_key\": " + quote(node.typeKey)};
  if (std::string text = fields(node); !text.empty())
    members.push_back("\"attrs\": " + text);
  if (!node.keys.empty()) {
    std::vector<std::string> keys;
    for (const std::string& key : node.keys)
      keys.push_back(quote(key));
    members.push_back("\"keys\": " + lines('[', keys, 8, ']'));
  }
  if (!node.data.empty())
    members.push_back("\"data\": " + numbers(node.data, 8));
  if (!node.repr.empty() && isPrintable(node.repr))
    members.push_back("\"repr_str\": " + quote(node.repr));
  else if (!node.repr.empty())
    members.push_back("\"repr_b64\": " + quote(encodeBase64(std::as_bytes(std::span(node.repr)))));
  return lines('{', members, 6, '}');
}

/// Whether a node is a map that says the same as the table's roots.
bool isRoot(const MetadataTable& table, const MetadataNode& node) {
  if (node.typeKey != "Map" || node.keys.size() != table.roots.size() ||
      node.data.size() != node.keys.size())
    return false;
  for (size_t i = 0; i < node.keys.size(); ++i) {
    auto found = table.roots.find(node.keys[i]);
    if (found == table.roots.end() || node.data[i] >= table.nodes.size() ||
        table.nodes[node.data[i]].typeKey != "Array" ||
        table.nodes[node.data[i]].data != found->second)
      return false;
  }
  return true;
}

} // namespace

std::string writeMetadata(const MetadataTable& table) {
  std::vector<std::string> nodes;
  size_t root = SIZE_MAX;
  for (const MetadataNode& node : table.nodes) {
    if (root == SIZE_MAX && isRoot(table, node))
      root = nodes.size();
    nodes.push_back(nodeText(node));
  }
  if (nodes.empty())
    nodes.push_back(nodeText({}));
  if (root == SIZE_MAX) {
    MetadataNode map{"Map", {}, {}, {}, {}};
    for (const auto& [key, numbersOfKey] : table.roots) {
      map.keys.push_back(key);
      map.data.push_back(nodes.size());
      nodes.push_back(nodeText({"Array", {}, {}, numbersOfKey, {}}));
    }
    root = nodes.size();
    nodes.push_back(nodeText(map));
  }
  std::vector<std::string> blobs;
  for (const runtime::Tensor& tensor : table.tensors)
    blobs.push_back(quote(encodeTensor(tensor)));
  return lines('{',
               {"\"root\": " + std::to_string(root), "\"nodes\": " + lines('[', nodes, 4, ']'),
                "\"b64ndarrays\": " + lines('[', blobs, 4, ']'),
                "\"attrs\": {\"tvm_version\": \"0.19.0\"}"},
               2, '}');
}

std::string wholeText(lang::Printed printed) {
  if (printed.needsMetadata)
    printed.text += "\n#[metadata]\n" + writeMetadata(printed.metadata) + "\n";
  return std::move(printed.text);
}

} // namespace parser
