// Branches and matches. An arm whose value is a branch may be two arms, of which the first has a
// guard; what matches one shape alone may be a `let`.
#include "lang/ir/expr.h"
#include "tests/harness/notation_writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace harness {

using namespace lang;

namespace {

bool isLiteral(const Node& node, std::string_view text) {
  return node.kind == NodeKind::Literal && node.text == text;
}

} // namespace

// Branches.

/// `a && b`, `a || b`.
std::optional<std::string> NotationWriter::logic(const Node& node, NodeId id) {
  const Node &then = program_.node(node.parts[1]), &otherwise = program_.node(node.parts[2]);
  bool isAnd = isLiteral(otherwise, "False"), isOr = isLiteral(then, "True");
  if ((!isAnd && !isOr) || isShared(node.parts[1]) || isShared(node.parts[2]) ||
      !spelling_.takes(Form::Logic, id, 70))
    return std::nullopt;
  return fmt::format("({}) {} ({})", expr(node.parts[0]), isAnd ? "&&" : "||",
                     expr(node.parts[isAnd ? 1 : 2]));
}

/// `match n { 0 => a, _ => b }`.
std::optional<std::string> NotationWriter::matchedNumber(const Node& node, NodeId id) {
  const Node& condition = program_.node(node.parts[0]);
  bool isEquality = condition.kind == NodeKind::Operator && condition.isInfix &&
                    condition.text == "==" && condition.parts.size() == 2 &&
                    !isShared(node.parts[0]);
  if (!isEquality)
    return std::nullopt;
  const Node& number = program_.node(condition.parts[1]);
  if (number.kind != NodeKind::Literal || number.type != program_.types->scalar(runtime::Int32) ||
      !spelling_.takes(Form::LiteralPattern, id, 60))
    return std::nullopt;
  std::string digits = number.text.substr(0, number.text.find('i'));
  return fmt::format("match {} {{ {} => {}, _ => {} }}", atom(condition.parts[0]), digits,
                     braced(node.parts[1]), braced(node.parts[2]));
}

/// `match c { true => a, false => b }`, or by a guard.
std::optional<std::string> NotationWriter::matchedCondition(const Node& node, NodeId id) {
  if (!spelling_.takes(Form::MatchedCondition, id, 15))
    return std::nullopt;
  std::string condition = atom(node.parts[0]), then = braced(node.parts[1]),
              otherwise = braced(node.parts[2]);
  switch (spelling_.index(Form::MatchedCondition, id, 4)) {
  case 0:
    return fmt::format("match {} {{ true => {}, false => {} }}", condition, then, otherwise);
  case 1:
    return fmt::format("match {} {{ false => {}, _ => {} }}", condition, otherwise, then);
  case 2:
    return fmt::format("match () {{ _ if {} => {}, _ => {} }}", condition, then, otherwise);
  default:
    return fmt::format("match {} {{ true | false if false => {}, true => {}, _ => {} }}", condition,
                       otherwise, then, otherwise);
  }
}

std::string NotationWriter::branch(const Node& node, NodeId id) {
  for (auto form :
       {&NotationWriter::logic, &NotationWriter::matchedNumber, &NotationWriter::matchedCondition})
    if (auto text = (this->*form)(node, id))
      return *text;
  bool isChain = program_.node(node.parts[2]).kind == NodeKind::If && !isShared(node.parts[2]) &&
                 spelling_.takes(Form::ElseIf, id, 60);
  std::string otherwise;
  if (isChain) {
    const Node& inner = program_.node(node.parts[2]);
    otherwise = fmt::format("if {} {} else {}", atom(inner.parts[0]), braced(inner.parts[1]),
                            braced(inner.parts[2]));
  } else {
    otherwise = braced(node.parts[2]);
  }
  return fmt::format("if {} {} else {}", atom(node.parts[0]), braced(node.parts[1]), otherwise);
}

// Matches.

std::string NotationWriter::arm(const std::string& pattern, NodeId body) {
  const Node& node = program_.node(body);
  bool isGuarded =
      node.kind == NodeKind::If && !isShared(body) && spelling_.takes(Form::Guard, body, 60);
  if (!isGuarded)
    return fmt::format("{} => {}", pattern, expr(body));
  return fmt::format("{} if {} => {}, {} => {}", pattern, atom(node.parts[0]), expr(node.parts[1]),
                     pattern, expr(node.parts[2]));
}

/// A block whose `let` takes the scrutinee apart, where it has one shape alone.
std::optional<std::string> NotationWriter::takingLet(const Node& node, NodeId id) {
  const Type* type = program_.node(node.parts[0]).type;
  const MatchPattern& taken = node.patterns[0];
  bool takesApart = taken.kind == PatternKind::Tuple || taken.kind == PatternKind::Constructor;
  if (node.patterns.size() != 1 || !takesApart || !alwaysFits(*program_.types, taken, type) ||
      !spelling_.takes(Form::TakingLet, id, 60))
    return std::nullopt;
  ++depth_;
  std::string indent(depth_ * 2, ' ');
  std::string taking = patterns_.pattern(taken, type, id, true);
  std::string text = fmt::format("{{\n{}let {} = {};\n{}{}", indent, taking, expr(node.parts[0]),
                                 indent, lines(node.parts[1]));
  --depth_;
  return text + "\n" + std::string(depth_ * 2, ' ') + "}";
}

std::string NotationWriter::match(const Node& node, NodeId id) {
  if (auto text = takingLet(node, id))
    return *text;
  const Type* type = program_.node(node.parts[0]).type;
  std::string text = "match " + atom(node.parts[0]) + " {\n";
  ++depth_;
  for (size_t i = 0; i < node.patterns.size(); ++i)
    text += std::string(depth_ * 2, ' ') +
            arm(patterns_.pattern(node.patterns[i], type, id * 64 + i * 8), node.parts[i + 1]) +
            ",\n";
  --depth_;
  return text + std::string(depth_ * 2, ' ') + "}";
}

} // namespace harness
