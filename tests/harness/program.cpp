// Writing programs. Operands that are more than an atom get parentheses where the grammar wants a
// call or less; trees are generated shallow, so recursion is over a dozen levels.
#include "tests/harness/program.h"

#include "tests/harness/plain_forms.h"
#include "tests/harness/types.h"

#include <fmt/format.h>

namespace harness {

using namespace lang;

namespace {

class Writer {
public:
  Writer(const Program& program, DimStyle style) : program_(program), style_(style) {}

  std::string function(const Node& node, const std::string& head) {
    std::string text = head;
    if (!node.generics.empty()) {
      std::string names;
      for (const TypeParameter* generic : node.generics)
        names += (names.empty() ? "" : ", ") + std::string(generic->name);
      text += "[" + names + "]";
    }
    std::string parameters;
    for (const Binder& parameter : node.parameters)
      parameters += (parameters.empty() ? "" : ", ") + binder(parameter);
    text += "(" + parameters + ")";
    if (node.isResultAnnotated)
      text += " -> " + type(node.type->result);
    return text + " " + braced(node.parts[0]);
  }

private:
  std::string type(const Type* type) { return annotationText(*program_.types, type, style_); }

  std::string binder(const Binder& binder) {
    const Type* annotation = binder.type;
    if (binder.isWeak)
      annotation = changeDims(*program_.types, annotation,
                              [&](const Dim*) { return program_.types->any(); });
    return "%" + binder.name + (binder.isAnnotated ? ": " + type(annotation) : "");
  }

  std::string indent() const { return std::string(depth_ * 2, ' '); }

  std::string braced(NodeId id) {
    ++depth_;
    std::string inside = indent() + lines(id);
    --depth_;
    return "{\n" + inside + "\n" + indent() + "}";
  }

  /// What stands between braces: a block without parentheses, or any expression.
  std::string lines(NodeId id) {
    const Node& node = program_.node(id);
    if (node.kind != NodeKind::Block)
      return expr(id);
    std::string text;
    for (size_t i = 0; i < node.items.size(); ++i) {
      const Item& item = node.items[i];
      if (item.kind == ItemKind::Let)
        text += "let " + binder(item.binder) + " = ";
      else if (item.kind == ItemKind::Graph)
        text += "%" + item.binder.name + " = ";
      text += value(node.parts[i]) + ";\n" + indent();
    }
    return text + expr(node.parts.back());
  }

  /// For the right side of a binding, which a match may not be.
  std::string value(NodeId id) {
    return program_.node(id).kind == NodeKind::Match ? "(" + expr(id) + ")" : expr(id);
  }

  /// For places that take an atom.
  std::string atom(NodeId id) {
    const Node& node = program_.node(id);
    switch (node.kind) {
    case NodeKind::Local:
    case NodeKind::Graph:
    case NodeKind::Global:
    case NodeKind::Literal:
    case NodeKind::OperatorValue:
    case NodeKind::Tuple:
    case NodeKind::Block:
      return expr(id);
    case NodeKind::Constructor:
      return node.parts.empty() ? expr(id) : "(" + expr(id) + ")";
    default:
      return "(" + expr(id) + ")";
    }
  }

  std::string list(const Node& node, size_t first) {
    std::string text;
    for (size_t i = first; i < node.parts.size(); ++i)
      text += (i == first ? "" : ", ") + expr(node.parts[i]);
    for (const NamedText& attribute : node.attributes)
      text += (text.empty() ? "" : ", ") + attribute.name + "=" + attribute.value;
    return text;
  }

  std::string match(const Node& node) {
    std::string text = "match (" + expr(node.parts[0]) + ") {\n";
    ++depth_;
    for (size_t i = 0; i < node.patterns.size(); ++i)
      text += indent() + pattern(node.patterns[i]) + " => " + braced(node.parts[i + 1]) + ",\n";
    --depth_;
    return text + indent() + "}";
  }

  std::string pattern(const MatchPattern& pattern) {
    std::string parts;
    for (const MatchPattern& part : pattern.parts)
      parts += (parts.empty() ? "" : ", ") + this->pattern(part);
    switch (pattern.kind) {
    case PatternKind::Wildcard:
      return "_";
    case PatternKind::Var:
      return binder(pattern.binder);
    case PatternKind::Tuple:
      return "(" + parts + ")";
    default:
      return pattern.constructor + (parts.empty() ? "" : "(" + parts + ")");
    }
  }

  std::string expr(NodeId id) {
    const Node& node = program_.node(id);
    switch (node.kind) {
    case NodeKind::Local:
    case NodeKind::Graph:
      return "%" + node.text;
    case NodeKind::Literal:
    case NodeKind::OperatorValue:
      return node.text;
    case NodeKind::Global:
      return "@" + node.text;
    case NodeKind::Operator:
      return node.isInfix && node.parts.size() == 2
                 ? atom(node.parts[0]) + " " + node.text + " " + atom(node.parts[1])
                 : node.text + "(" + list(node, 0) + ")";
    case NodeKind::Call:
      return atom(node.parts[0]) + "(" + list(node, 1) + ")";
    case NodeKind::Constructor:
      return node.text + (node.parts.empty() ? "" : "(" + list(node, 0) + ")");
    case NodeKind::Tuple:
      return "(" + list(node, 0) + (node.parts.size() == 1 ? ",)" : ")");
    case NodeKind::Project:
      return fmt::format("{}.{}", atom(node.parts[0]), node.index);
    case NodeKind::If:
      return "if (" + expr(node.parts[0]) + ") " + braced(node.parts[1]) + " else " +
             braced(node.parts[2]);
    case NodeKind::Match:
      return match(node);
    case NodeKind::Function:
      return function(node, "fn ");
    case NodeKind::RefNew:
      return "ref(" + expr(node.parts[0]) + ")";
    case NodeKind::RefRead:
      return "ref_read(" + expr(node.parts[0]) + ")";
    case NodeKind::RefWrite:
      return "ref_write(" + expr(node.parts[0]) + ", " + expr(node.parts[1]) + ")";
    case NodeKind::Block:
      return "(" + lines(id) + ")";
    default:
      return plainForm(program_, id, [this](NodeId part) { return expr(part); });
    }
    return {};
  }

  const Program& program_;
  DimStyle style_;
  size_t depth_ = 0;
};

} // namespace

std::string annotationText(TypeContext& types, const Type* type, DimStyle style) {
  if (style == DimStyle::Named)
    return typeText(type);
  return typeText(changeDims(
      types, type, [&](const Dim* dim) { return dim->isConstant() ? dim : types.any(); }));
}

std::string programText(const Program& program) {
  std::string text = "#[version = \"0.0.5\"]\n";
  for (const DataTypeText& dataType : program.dataTypes)
    text += dataType.text + "\n";
  for (const Definition& definition : program.definitions)
    text += Writer(program, definition.dims)
                .function(program.functionOf(definition), "def @" + definition.name) +
            "\n";
  return text;
}

std::vector<NodeId> below(const Program& program, NodeId id) {
  std::vector<NodeId> found, stack{id};
  while (!stack.empty()) {
    found.push_back(stack.back());
    const Node& node = program.node(stack.back());
    stack.pop_back();
    stack.insert(stack.end(), node.parts.begin(), node.parts.end());
  }
  return found;
}

std::vector<NodeId> everyNode(const Program& program) {
  std::vector<NodeId> all;
  for (const Definition& definition : program.definitions)
    for (NodeId id : below(program, definition.function))
      all.push_back(id);
  return all;
}

} // namespace harness
