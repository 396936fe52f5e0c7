// Blocks. What shares a line and is none is written as one.
#include "tests/harness/notation_writer.h"

#include <fmt/format.h>

namespace harness {

std::string NotationWriter::sharedLines(NodeId id, size_t item) {
  auto found = shared_.find(id);
  if (found == shared_.end() || !found->second.contains(item))
    return "";
  std::string text;
  for (const std::string& number : found->second.at(item))
    text += fmt::format("lazy g{} = {};\n{}", number, expr(plan_.lines.at(number)),
                        std::string(depth_ * 2, ' '));
  return text;
}

std::string NotationWriter::item(const Node& block, NodeId id, size_t i) {
  const Item& item = block.items[i];
  if (item.kind == ItemKind::Graph)
    return "";
  std::string indent(depth_ * 2, ' ');
  if (item.kind == ItemKind::Sequence)
    return expr(block.parts[i]) + ";\n" + indent;
  std::string text = "let " + notationName(item.binder.name);
  if (item.binder.isAnnotated && item.binder.type)
    // Of a parameter the line may be what tells its type.
    text += ": " + (item.binder.isWeak || program_.node(block.parts[i]).kind == NodeKind::Local
                        ? types_.annotation(item.binder)
                        : types_.partialTensor(item.binder.type, id, i));
  return text + " = " + expr(block.parts[i]) + ";\n" + indent;
}

/// What stands between braces.
std::string NotationWriter::lines(NodeId id) {
  const Node& node = program_.node(id);
  if (node.kind != NodeKind::Block)
    return sharedLines(id, 0) + plain(id);
  std::string text;
  for (size_t i = 0; i < node.items.size(); ++i)
    text += sharedLines(id, i) + item(node, id, i);
  return text + sharedLines(id, node.items.size()) + expr(node.parts.back());
}

std::string NotationWriter::braced(NodeId id) {
  ++depth_;
  std::string indent(depth_ * 2, ' ');
  std::string inside = indent + lines(id);
  --depth_;
  return "{\n" + inside + "\n" + std::string(depth_ * 2, ' ') + "}";
}

} // namespace harness
