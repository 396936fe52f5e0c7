// Calls of operators: by name, or as Baton's notation writes them.
#include "stdlib/ops.h"
#include "tests/harness/draw.h"
#include "tests/harness/notation_writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace harness {

using namespace lang;

namespace {

constexpr std::string_view infixes[] = {"+", "-",  "*", "/",  "%",  "@", "**",
                                        "<", "<=", ">", ">=", "==", "!="};

} // namespace

std::string NotationWriter::operand(const Node& node, size_t i, const OperatorRow& row) {
  const Node& part = program_.node(node.parts[i]);
  bool isList = row.operand(i).kind == OperandKind::TensorTuple && part.kind == NodeKind::Tuple &&
                !isShared(node.parts[i]) && std::ranges::any_of(part.parts, [&](NodeId each) {
                  return program_.node(each).kind != NodeKind::Literal;
                });
  if (!isList || !spelling_.takes(Form::BracketedTuple, node.parts[i], 60))
    return expr(node.parts[i]);
  std::string text = tuple(part);
  text = text.substr(1, text.size() - (part.parts.size() == 1 ? 3 : 2));
  return "[" + text + "]";
}

/// A number beside a name of its type needs none of its own.
std::string NotationWriter::infixOperand(const Node& node, size_t i) {
  const Node &part = program_.node(node.parts[i]), &other = program_.node(node.parts[1 - i]);
  size_t suffix = part.text.find_first_of("if");
  bool mayBeBare = part.kind == NodeKind::Literal && other.kind == NodeKind::Local && other.type &&
                   part.type && other.type->isTensor() && other.type->dtype == part.type->dtype &&
                   suffix != std::string::npos && !isShared(node.parts[i]);
  return mayBeBare && spelling_.takes(Form::BareNumber, node.parts[i], 60)
             ? "(" + part.text.substr(0, suffix) + ")"
             : atom(node.parts[i]);
}

/// What is written like no call: infix, prefix, `.T`, and brackets.
std::optional<std::string> NotationWriter::operatorForm(const Node& node, NodeId id,
                                                        const OperatorRow& row) {
  auto isDefault = [&](const NamedText& attribute) {
    auto place = std::ranges::find(row.attributes, attribute.name, &AttributeRow::name);
    size_t i = size_t(place - row.attributes.begin());
    return attributeText(stdlib::operatorTable().defaults(&row)[i]) == attribute.value;
  };
  if (!std::ranges::all_of(node.attributes, isDefault))
    return std::nullopt;
  bool isInfix = node.parts.size() == 2 && std::ranges::count(infixes, row.infix) > 0;
  if (isInfix && (node.isInfix || spelling_.takes(Form::InfixOperator, id, 70)))
    return fmt::format("({} {} {})", infixOperand(node, 0), row.infix, infixOperand(node, 1));
  if (node.parts.size() != 1)
    return std::nullopt;
  const Node& part = program_.node(node.parts[0]);
  if (part.kind == NodeKind::Literal)
    return std::nullopt;
  if (row.role == Role::MatrixTranspose && spelling_.takes(Form::Transposition, id, 80))
    return atom(node.parts[0]) + ".T";
  if ((row.role == Role::Negate || row.role == Role::Not) && spelling_.takes(Form::Prefix, id, 70))
    return fmt::format("({}{})", row.role == Role::Not ? "!" : "-", atom(node.parts[0]));
  if (row.role != Role::Stack || part.kind != NodeKind::Tuple || part.parts.empty() ||
      isShared(node.parts[0]) || !spelling_.takes(Form::TensorLiteral, id, 70))
    return std::nullopt;
  std::string text = tuple(part);
  return "[" + text.substr(1, text.size() - (part.parts.size() == 1 ? 3 : 2)) + "]";
}

std::string NotationWriter::operatorCall(const Node& node, NodeId id) {
  const OperatorRow& row = operatorOf(node);
  if (auto form = operatorForm(node, id, row))
    return *form;
  std::vector<Argument> given;
  for (size_t i = 0; i < node.parts.size(); ++i)
    given.push_back({.text = operand(node, i, row),
                     .isAtom = isAtom(program_.node(node.parts[i])) && !isShared(node.parts[i]),
                     .name = std::string(row.operand(i).name),

                     .isBound = row.operand(i).kind == OperandKind::TensorTuple ||
                                program_.node(node.parts[i]).kind == NodeKind::ComputedShape});
  std::vector<Argument> attributes = attributes_.of(node, id, row);
  bool mayName = row.operands.size() == node.parts.size() &&
                 (attributes.empty() || attributes[0].isNamed) &&
                 std::ranges::none_of(row.operands, &OperandRow::repeats);
  if (mayName)
    nameArguments(given, given.size(), id);
  std::string callee = attributes_.operatorName(row, id);
  if (attributes.empty())
    return applied(callee, std::move(given), id);
  // What brings its attributes along is written in one piece, but for a pipe.
  size_t count = given.size();
  given.insert(given.end(), attributes.begin(), attributes.end());
  std::string text;
  bool isPiped = count > 0 && !given[0].isNamed && spelling_.takes(Form::Pipe, id, 12);
  for (size_t i = isPiped ? 1 : 0; i < given.size(); ++i)
    text += (text.empty() ? "" : ", ") +
            (given[i].isNamed ? notationName(given[i].name) + " = " : "") + given[i].text;
  return isPiped ? fmt::format("(({}) |> {}({}))", given[0].text, callee, text)
                 : callee + "(" + text + ")";
}

} // namespace harness
