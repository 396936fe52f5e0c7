// References between metadata objects: in range, acyclic, and not explosive when walked.
//
// A list may hold the same object many times. Walking such lists of lists naively can take time
// exponential in the text, so the size of each object's expansion is computed and bounded here.
#include "parser/metadata/graph.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace parser {

using lang::MetadataNode;
using lang::MetadataTable;

namespace {

constexpr size_t largestDepth = 200;

struct TypeRow {
  std::string_view typeKey;
  std::array<std::string_view, 4> references;
};

constexpr TypeRow typeRows[] = {
    {"relay.Constant", {"virtual_device_", "span", "_checked_type_"}},
    {"IntImm", {"span"}},
    {"FloatImm", {"span"}},
    {"tir.Var", {"type_annotation", "span"}},
    {"tir.SizeVar", {"type_annotation", "span"}},
    {"relay.TensorType", {"span"}},
    {"IncompleteType", {"span"}},
    {"GlobalVar", {"virtual_device_", "span", "_checked_type_", "struct_info_"}},
    {"VirtualDevice", {"target", "memory_scope"}},
};

std::optional<size_t> parseIndex(std::string_view text, size_t limit) {
  size_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value >= limit)
    return std::nullopt;
  return value;
}

std::string checkNode(const MetadataTable& table, size_t number) {
  const MetadataNode& node = table.nodes[number];
  bool isMap = node.typeKey == "Map";
  if (isMap &&
      (node.keys.empty() ? node.data.size() % 2 != 0 : node.keys.size() != node.data.size()))
    return fmt::format("map {} has {} keys and {} values", number, node.keys.size(),
                       node.data.size());
  auto references = demandedReferences(node.typeKey);
  for (const auto& [name, text] : node.fields) {
    bool isTensor = node.typeKey == "relay.Constant" && name == "data";
    bool isReference = std::ranges::find(references, name) != references.end();
    if (isTensor && !parseIndex(text, table.tensors.size()))
      return fmt::format("node {} refers to tensor {:.20}, of {} tensors", number, text,
                         table.tensors.size());
    if (isReference && !parseIndex(text, table.nodes.size()))
      return fmt::format("field `{}` of node {} refers to node {:.20}, of {} nodes", name, number,
                         text, table.nodes.size());
  }
  return {};
}

/// What walking a node along `data` comes to.
struct Extent {
  enum : uint8_t { New, Open, Done } state = New;
  size_t depth = 0;
  size_t size = 0;
};

/// Adds a finished child to its parent.
void addChild(Extent& parent, const Extent& child, size_t largestSize) {
  parent.depth = std::max(parent.depth, child.depth + 1);
  parent.size = std::min(parent.size + child.size, largestSize + 1);
}

struct Frame {
  size_t node;
  size_t next;
};

/// Walks from one node, depth first with an explicit stack.
std::string walk(const MetadataTable& table, size_t start, size_t largestSize,
                 std::vector<Extent>& extents) {
  std::vector<Frame> stack{{start, 0}};
  extents[start] = {Extent::Open, 1, 1};
  while (!stack.empty()) {
    auto [node, next] = stack.back();
    const std::vector<size_t>& data = table.nodes[node].data;
    if (next == data.size()) {
      if (extents[node].depth > largestDepth || extents[node].size > largestSize)
        return fmt::format("node {} stands for a list of lists that is too large", node);
      extents[node].state = Extent::Done;
      stack.pop_back();
      continue;
    }
    size_t child = data[next];
    if (extents[child].state == Extent::Open)
      return fmt::format("node {} contains itself", child);
    if (extents[child].state == Extent::New) {
      extents[child] = {Extent::Open, 1, 1};
      stack.push_back({child, 0});
      continue;
    }
    addChild(extents[node], extents[child], largestSize);
    ++stack.back().next;
  }
  return {};
}

} // namespace

std::span<const std::string_view> demandedReferences(std::string_view typeKey) {
  auto row = std::ranges::find(typeRows, typeKey, &TypeRow::typeKey);
  if (row == std::end(typeRows))
    return {};
  size_t count =
      size_t(std::ranges::find(row->references, std::string_view()) - row->references.begin());
  return std::span(row->references).first(count);
}

std::string checkMetadataGraph(const MetadataTable& table) {
  size_t largestSize = std::max<size_t>(table.nodes.size() * 16, 65536);
  std::vector<Extent> extents(table.nodes.size());
  for (size_t number = 0; number < table.nodes.size(); ++number) {
    std::string problem = checkNode(table, number);
    if (problem.empty() && extents[number].state == Extent::New)
      problem = walk(table, number, largestSize, extents);
    if (!problem.empty())
      return problem;
  }
  return {};
}

} // namespace parser
