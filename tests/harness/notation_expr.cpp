// Expressions that are neither calls nor branches. Parentheses leave no trace in a tree, so they
// stand wherever something longer might need them.
#include "tests/harness/notation_writer.h"
#include "tests/harness/random.h"

#include <algorithm>
#include <fmt/format.h>

namespace harness {

using namespace lang;

bool isAtom(const Node& node) {
  return node.kind == NodeKind::Local || node.kind == NodeKind::Literal ||
         node.kind == NodeKind::Global;
}

/// `1i32`, `2.5f16`, `true`; without a type where that is what numbers have by themselves.
std::string NotationWriter::literal(const Node& node, NodeId id) {
  std::string full = wholeLiteral(node);
  size_t digits = full.find_first_not_of("-0123456789.");
  std::string number = full.substr(0, digits), suffix = full.substr(digits);
  if (spelling_.takes(Form::Constant, mixSeed(0, full), 12))
    return constants_.try_emplace(full, fmt::format("const{}", constants_.size())).first->second;
  if ((suffix != "i32" && suffix != "f32") || !spelling_.takes(Form::BareNumber, id, 60))
    return full;
  return number + (suffix == "f32" && number.find('.') == std::string::npos ? ".0" : "");
}

std::string NotationWriter::tuple(const Node& node) {
  std::string text;
  for (NodeId part : node.parts)
    text += (text.empty() ? "" : ", ") + expr(part);
  return "(" + text + (node.parts.size() == 1 ? ",)" : ")");
}

std::string genericsText(const Node& node) {
  std::string names;
  for (const TypeParameter* generic : node.generics)
    names += (names.empty() ? "[" : ", ") + std::string(generic->name);
  return names.empty() ? "" : names + "]";
}

std::string NotationWriter::body(NodeId id) {
  bool isInline = program_.node(id).kind != NodeKind::Block && !isShared(id) &&
                  spelling_.takes(Form::InlineBody, id, 40);
  return isInline ? "= " + expr(id) : braced(id);
}

std::string NotationWriter::parameters(const Node& node, NodeId id, const std::string& definition) {
  auto open = plan_.open.find(definition);
  auto defaults = plan_.defaults.find(definition);
  std::string text;
  for (size_t i = 0; i < node.parameters.size(); ++i) {
    const Binder& parameter = node.parameters[i];
    text += (i == 0 ? "" : ", ") + notationName(parameter.name);
    bool isOpen = !definition.empty() && open != plan_.open.end() && open->second.contains(i);
    if (parameter.isAnnotated && !isOpen)
      text += ": " + (parameter.isWeak ? types_.annotation(parameter)
                                       : types_.annotated(parameter.type, id, i));
    if (!definition.empty() && defaults != plan_.defaults.end())
      if (auto value = defaults->second.find(i); value != defaults->second.end())
        text += " = " + value->second;
  }
  return "(" + text + ")";
}

/// `fn ((a, b): T) { ... }` for a function that does nothing but take its argument apart.
std::optional<std::string> NotationWriter::takingFunction(const Node& node, NodeId id) {
  const Node& match = program_.node(node.parts[0]);
  bool isMatch = node.parameters.size() == 1 && node.generics.empty() &&
                 match.kind == NodeKind::Match && match.patterns.size() == 1 &&
                 match.patterns[0].kind == PatternKind::Tuple && !isShared(node.parts[0]);
  if (!isMatch)
    return std::nullopt;
  const Binder& parameter = node.parameters[0];
  auto mentions = [&](NodeId inner) {
    const Node& each = program_.node(inner);
    return each.kind == NodeKind::Graph ||
           (each.kind == NodeKind::Local && each.text == parameter.name);
  };
  if (program_.node(match.parts[0]).text != parameter.name ||
      program_.node(match.parts[0]).kind != NodeKind::Local ||
      std::ranges::count_if(below(program_, node.parts[0]), mentions) != 1 ||
      !spelling_.takes(Form::ParameterPattern, id, 70))
    return std::nullopt;
  return fmt::format("fn ({}{}) {}", patterns_.pattern(match.patterns[0], parameter.type, id, true),
                     parameter.isAnnotated ? ": " + types_.annotation(parameter) : "",
                     braced(match.parts[1]));
}

std::string NotationWriter::function(const Node& node, NodeId id) {
  if (auto taking = takingFunction(node, id); taking && !node.isResultAnnotated)
    return *taking;
  std::string result =
      node.isResultAnnotated ? " -> " + types_.annotated(node.type->result, id, 7) : "";
  return "fn " + genericsText(node) + parameters(node, id, "") + result + " " + body(node.parts[0]);
}

/// For places that take an operand.
std::string NotationWriter::atom(NodeId id) {
  const Node& node = program_.node(id);
  bool isPlain = !isShared(id) && (node.kind == NodeKind::Local || node.kind == NodeKind::Graph ||
                                   node.kind == NodeKind::Tuple);
  return isPlain ? expr(id) : "(" + expr(id) + ")";
}

std::string NotationWriter::expr(NodeId id) {
  const Node& node = program_.node(id);
  if (isShared(id) || node.kind == NodeKind::Block)
    return braced(id);
  if (node.type && node.type->isTensor() && !isInShape_ && spelling_.takes(Form::Failure, id, 1))
    return fmt::format("if true {{ {} }} else {{ fail(\"not here\") }}", plain(id));
  if (node.type && node.type->isTensor() && !isInShape_ && !plan_.hides("print") &&
      spelling_.takes(Form::Printed, id, 1))
    return fmt::format("print(\"at {{}}\", {})", plain(id));
  return plain(id);
}

/// The expression without the lines that it shares.
std::string NotationWriter::plain(NodeId id) {
  const Node& node = program_.node(id);
  switch (node.kind) {
  case NodeKind::Local:
    return notationName(node.text);
  case NodeKind::Graph:
    return "g" + node.text;
  case NodeKind::Literal:
    return literal(node, id);
  case NodeKind::Global:
    return types_.global(node);
  case NodeKind::OperatorValue:
    return attributes_.operatorName(operatorOf(node), id);
  case NodeKind::Operator:
    return operatorCall(node, id);
  case NodeKind::Call:
    return call(node, id);
  case NodeKind::Constructor:
    return construction(node, id);
  case NodeKind::Tuple:
    return tuple(node);
  case NodeKind::Project:
    return fmt::format("{}.{}", atom(node.parts[0]), node.index);
  case NodeKind::If:
    return branch(node, id);
  case NodeKind::Match:
    return match(node, id);
  case NodeKind::Function:
    return function(node, id);
  case NodeKind::RefNew:
    return "ref(" + expr(node.parts[0]) + ")";
  case NodeKind::RefRead:
    return "ref_read(" + expr(node.parts[0]) + ")";
  case NodeKind::RefWrite:
    return "ref_write(" + expr(node.parts[0]) + ", " + expr(node.parts[1]) + ")";
  case NodeKind::Block:
    return braced(id);
  default:
    return ownForm(node, id);
  }
}

} // namespace harness
