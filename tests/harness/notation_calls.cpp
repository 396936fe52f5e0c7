// Calls of functions and constructors. However a call is written, its operands are computed in the
// order of its parameters, but for a partial call, whose own arguments come first.
#include "lang/ir/expr.h"
#include "tests/harness/notation_writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace harness {

using namespace lang;

namespace {

std::string joined(const std::vector<Argument>& arguments, size_t placeholder) {
  std::string text;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& each = arguments[i];
    text += (i == 0 ? "" : ", ") + (each.isNamed ? notationName(each.name) + " = " : "") +
            (i == placeholder ? "_" : each.text);
  }
  return text;
}

/// Whether an argument may be computed after all others.
bool mayComeLast(const std::vector<Argument>& arguments, size_t last) {
  bool areAtoms = true;
  for (size_t i = 0; i < arguments.size(); ++i)
    areAtoms &= i == last || arguments[i].isAtom;
  return std::ranges::none_of(arguments, &Argument::isBound) &&
         (arguments[last].isAtom || areAtoms);
}

} // namespace

std::vector<Argument> NotationWriter::arguments(const Node& node, size_t first) {
  std::vector<Argument> made;
  for (size_t i = first; i < node.parts.size(); ++i)
    made.push_back({.text = expr(node.parts[i]),
                    .isAtom = isAtom(program_.node(node.parts[i])) && !isShared(node.parts[i]),
                    .isBound = program_.node(node.parts[i]).kind == NodeKind::ComputedShape});
  return made;
}

/// Gives the last arguments by name, in any order; those from `least` on are by name anyhow.
void NotationWriter::nameArguments(std::vector<Argument>& arguments, size_t least, NodeId id) {
  size_t first = std::min(least, arguments.size());
  if (!arguments.empty() && spelling_.takes(Form::NamedArgument, id, 25))
    first = std::min(first, spelling_.index(Form::NamedArgument, id, arguments.size()));
  for (size_t i = first; i < arguments.size(); ++i)
    arguments[i].isNamed = true;
  if (first < arguments.size() && spelling_.index(Form::NamedArgument, id, 2) == 1)
    std::reverse(arguments.begin() + ptrdiff_t(first), arguments.end());
}

std::string NotationWriter::applied(const std::string& callee, std::vector<Argument> arguments,
                                    NodeId id) {
  constexpr size_t none = SIZE_MAX;
  if (!arguments.empty()) {
    Argument first = arguments[0];
    size_t place = spelling_.index(Form::PlacedPipe, id, arguments.size());
    if (!first.isNamed && spelling_.takes(Form::Pipe, id, 12)) {
      arguments.erase(arguments.begin());
      return fmt::format("(({}) |> {}({}))", first.text, callee, joined(arguments, none));
    }
    if (spelling_.takes(Form::PlacedPipe, id, 8))
      return fmt::format("(({}) |> {}({}))", arguments[place].text, callee,
                         joined(arguments, place));
    if (mayComeLast(arguments, place) && spelling_.takes(Form::PartialCall, id, 8))
      return fmt::format("{}({})({})", callee, joined(arguments, place), arguments[place].text);
  }
  return callee + "(" + joined(arguments, none) + ")";
}

/// `p(x)` for a call of the function that is named as the type of `p`.
std::optional<std::string> NotationWriter::recordCall(const Node& node, NodeId id) {
  const Node& callee = program_.node(node.parts[0]);
  if (node.parts.size() < 2)
    return std::nullopt;
  // What a call of a value calls is computed behind its arguments.
  NodeId inner = node.parts[1];
  while (program_.node(inner).kind == NodeKind::Field)
    inner = program_.node(inner).parts[0];
  const Type* type = program_.node(node.parts[1]).type;
  if (!type || !isAtom(program_.node(inner)) || isShared(inner) ||
      !isFunctionOf(callee.text, type) || !spelling_.takes(Form::RecordCall, id, 60))
    return std::nullopt;
  std::vector<Argument> given = arguments(node, 2);
  std::string text;
  for (const Argument& each : given)
    text += (text.empty() ? "" : ", ") + each.text;
  return atom(node.parts[1]) + "(" + text + ")";
}

/// A call of a definition, whose defaults are left out.
std::string NotationWriter::ownCall(const Node& node, NodeId id) {
  if (auto text = recordCall(node, id))
    return *text;
  const Node& callee = program_.node(node.parts[0]);
  auto definition = std::ranges::find(program_.definitions, callee.text, &Definition::name);
  std::vector<Argument> given = arguments(node, 1);
  if (definition == program_.definitions.end())
    return applied(types_.global(callee), std::move(given), id);
  const std::vector<Binder>& parameters = program_.functionOf(*definition).parameters;
  auto defaults = plan_.defaults.find(callee.text);
  size_t least = given.size();
  std::vector<Argument> kept;
  for (size_t i = 0; i < given.size() && i < parameters.size(); ++i) {
    const Node& argument = program_.node(node.parts[i + 1]);
    given[i].name = parameters[i].name;
    bool isDefault = defaults != plan_.defaults.end() && defaults->second.contains(i) &&
                     argument.kind == NodeKind::Literal && !isShared(node.parts[i + 1]) &&
                     defaults->second.at(i) == wholeLiteral(argument) &&
                     spelling_.takes(Form::Default, id, 80);
    if (isDefault)
      least = std::min(least, kept.size());
    else
      kept.push_back(std::move(given[i]));
  }
  nameArguments(kept, least, id);
  return applied(types_.global(callee), std::move(kept), id);
}

std::string NotationWriter::call(const Node& node, NodeId id) {
  const Node& callee = program_.node(node.parts[0]);
  bool isGlobal = callee.kind == NodeKind::Global && !isShared(node.parts[0]);
  if (isGlobal && !callee.isPrelude)
    return ownCall(node, id);
  return applied(isGlobal ? types_.global(callee) : atom(node.parts[0]), arguments(node, 1), id);
}

/// `list(a, b)`.
std::optional<std::string> NotationWriter::list(const Node& node, NodeId id) {
  std::string elements;
  const Node* rest = &node;
  for (bool isFirst = true; rest->text == "Cons" && rest->parts.size() == 2; isFirst = false) {
    elements += (isFirst ? "" : ", ") + expr(rest->parts[0]);
    if (isShared(rest->parts[1]) || program_.node(rest->parts[1]).kind != NodeKind::Constructor)
      return std::nullopt;
    rest = &program_.node(rest->parts[1]);
  }
  if (rest->text != "Nil" || plan_.hides("list") || !spelling_.takes(Form::ListLiteral, id, 50))
    return std::nullopt;
  return "list(" + elements + ")";
}

std::string NotationWriter::construction(const Node& node, NodeId id) {
  if (node.text == "Cons" || node.text == "Nil")
    if (auto text = list(node, id))
      return *text;
  if (node.parts.empty())
    return types_.constructor(node.text);
  std::vector<Argument> given = arguments(node, 0);
  bool isOwn = false;
  for (const DataTypeText& data : program_.dataTypes)
    for (const Constructor* each : data.definition->constructors)
      isOwn |= each->name == node.text;
  for (size_t i = 0; i < given.size(); ++i)
    given[i].name = fmt::format("u{}", i);
  if (isOwn)
    nameArguments(given, given.size(), id);
  return applied(types_.constructor(node.text), std::move(given), id);
}

} // namespace harness
