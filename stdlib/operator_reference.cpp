// Markdown from operator rows.
#include "stdlib/operator_reference.h"

#include "lang/op/other_names.h"
#include "runtime/short_names.h"
#include "stdlib/gradient_reference.h"
#include "stdlib/ops.h"
#include "stdlib/prelude_reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stdlib {

using lang::AttributeKind;
using lang::OperatorRow;
using parser::surface::Notation;

std::string_view kindName(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Int:
    return "integer";
  case AttributeKind::Float:
    return "number";
  case AttributeKind::Bool:
    return "bool";
  case AttributeKind::String:
    return "string";
  case AttributeKind::DType:
    return "element type";
  case AttributeKind::IntList:
    return "list of integers";
  case AttributeKind::FloatList:
    return "list of numbers";
  case AttributeKind::IntListList:
    return "list of lists of integers";
  case AttributeKind::IntOrIntList:
    return "integer or list of integers";
  case AttributeKind::Expr:
    return "expression";
  case AttributeKind::Object:
    return "object";
  }
  return {};
}

namespace {

/// The lines of a text as a block of code.
std::string indented(std::string_view text) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    result += fmt::format("    {}\n", text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

std::string gradientText(const lang::OperatorTable& table, const OperatorRow& row) {
  if (const auto* none = std::get_if<lang::NoGradient>(&row.gradient))
    return fmt::format("Gradient: none; {}.\n", none->reason);
  std::string program = gradientProgram(table, row), text = "Gradient: a rule.\n";
  if (!program.empty())
    text = fmt::format("Gradient, for an example:\n\n{}", indented(program));
  for (const lang::GradientExample& example : std::get<lang::GradientRule>(row.gradient).examples)
    text += fmt::format("\nThe cotangent `{}` of `{}` goes to the operands as `{}`.\n",
                        example.cotangent, example.expr, example.value);
  return text;
}

/// What Relay has and the table has not.
std::string absenceReference() {
  std::string text = fmt::format("# Operators of Relay that are not here\n\n"
                                 "Of the {} operators of Relay {} are above. These are not:\n",
                                 relayOperatorCount, relayOperatorCount - absentOperators().size());
  for (const lang::AbsentOperator& absent : absentOperators())
    text += fmt::format("\n## {}\n\nNot here: {}.\n", absent.name, absent.reason);
  return text;
}

} // namespace

std::string callText(const OperatorRow& row) {
  std::string text = fmt::format("{}(", row.name);
  std::string_view separator = "";
  for (const lang::OperandRow& operand : row.operands) {
    text += fmt::format("{}{}{}", separator, operand.name, operand.repeats ? ", ..." : "");
    separator = ", ";
  }
  for (const lang::AttributeRow& attribute : row.attributes) {
    text += fmt::format("{}{}={}", separator, attribute.name, attribute.defaultText);
    separator = ", ";
  }
  return text + ")";
}

namespace {

/// The default of an attribute; empty for one that must be given, and in Baton's notation for an
/// element type that the use or the operands tell.
std::string defaultText(const lang::AttributeRow& attribute, Notation notation) {
  std::string_view text = attribute.defaultText;
  if (notation == Notation::Relay)
    return std::string(text);
  if (attribute.kind == AttributeKind::DType && text.starts_with('"')) {
    auto dtype = runtime::parseDType(text.substr(1, text.size() - 2));
    return dtype ? runtime::shortDTypeName(*dtype) : "";
  }
  return text == "True"    ? "true"
         : text == "False" ? "false"
         : text == "None"  ? "none"
                           : std::string(text);
}

} // namespace

std::string callText(const OperatorRow& row, std::string_view name) {
  std::string text;
  for (const lang::OperandRow& operand : row.operands)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", operand.name,
                        operand.repeats ? ", ..." : "");
  for (const lang::AttributeRow& attribute : row.attributes) {
    std::string byDefault = defaultText(attribute, Notation::Baton);
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", attribute.name,
                        byDefault.empty() ? "" : " = ", byDefault);
  }
  return fmt::format("{}({})", name, text);
}

std::string operatorBody(const OperatorRow& row, Notation notation) {
  std::string text = fmt::format("{}\n", row.doc);
  if (!row.synonyms.empty())
    text += fmt::format("\nElsewhere it is called `{}`.\n", fmt::join(row.otherNames(), "`, `"));
  bool isInfix = notation == Notation::Baton || lang::isRelayInfix(row.infix);
  if (!row.infix.empty())
    text += fmt::format("\n{} can be written `a {} b`.\n",
                        isInfix ? "It" : "In Baton's notation it", row.infix);
  if (!row.details.empty())
    text += fmt::format("\n{}\n", row.details);
  if (!row.operands.empty() || !row.attributes.empty())
    text += "\n";
  for (const lang::OperandRow& operand : row.operands)
    text += fmt::format("* `{}`: {}\n", operand.name, operand.doc);
  for (const lang::AttributeRow& attribute : row.attributes) {
    std::string byDefault = defaultText(attribute, notation);
    text += fmt::format("* `{}` ({}{}): {}\n", attribute.name, kindName(attribute.kind),
                        attribute.defaultText.empty() ? ", must be given"
                        : byDefault.empty()           ? ""
                                                      : fmt::format(", `{}`", byDefault),
                        attribute.doc);
  }
  return text;
}

std::string operatorReference(const lang::OperatorTable& table, const OperatorRow& row) {
  std::string text = fmt::format("## {}\n\n    {}\n\n{}", row.name, callText(row),
                                 operatorBody(row, Notation::Relay));
  if (row.native)
    text += "\nComputed by a native function, not by a tensor expression.\n";
  if (!row.examples.empty())
    text += "\n";
  for (const lang::Example& example : row.examples)
    text += fmt::format("    {} => {}\n", example.expr, example.value);
  if (!row.simplify.examples.empty())
    text += "\nWhat `simplify` makes of a call:\n\n";
  for (const lang::SimplifyExample& example : row.simplify.examples)
    text += fmt::format("    {} => {}\n", example.expr, example.simpler);
  return text + "\n" + gradientText(table, row);
}

std::string operatorReference(const lang::OperatorTable& table) {
  std::string text = fmt::format(
      "# Operators\n\n"
      "All {} operators, by name. This file is made from the table in `stdlib/ops/` by\n"
      "`baton operators --markdown`; change it there.\n\n"
      "An integer may stand for a list of equal integers: `strides=2` for `strides=[2, 2]`.\n",
      table.all().size());
  for (const OperatorRow* row : table.all())
    text += "\n" + operatorReference(table, *row);
  return text + "\n" + absenceReference() + "\n" + preludeReference();
}

} // namespace stdlib
