// Definitions, and what is beside them.
#include "tests/harness/notation.h"

#include "lang/ir/expr.h"
#include "tests/harness/notation_writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace harness {

using namespace lang;

namespace {

/// One of the texts: its data types when it has them, and its definitions.
std::string textOf(const Program& program, Spelling& spelling, const NotationPlan& plan,
                   bool isImported) {
  NotationWriter writer(program, spelling, plan, isImported);
  std::string types, names, definitions;
  for (const DataTypeText& data : program.dataTypes)
    if (isImported || !plan.hasImport)
      types += writer.types().dataType(*data.definition);
  for (const Definition& definition : program.definitions)
    if (plan.imported.contains(definition.name) == isImported)
      definitions += "\n" + writer.definition(definition);
  for (const auto& [type, name] : writer.types().aliases())
    names += fmt::format("type {} = {}\n", name, type);
  return types + names + writer.beside() + definitions;
}

} // namespace

std::string NotationWriter::beside() const {
  std::string text;
  for (const auto& [value, name] : constants_)
    text += fmt::format("let {} = {};\n", name, value);
  for (const auto& [name, definition] : helpers_)
    text += "\n" + definition;
  return text;
}

std::string NotationWriter::definition(const Definition& definition) {
  const Node& node = program_.functionOf(definition);
  function_ = &node;
  shared_ = placeLines(program_, definition);
  types_.style = definition.dims;
  std::string result = node.isResultAnnotated
                           ? " -> " + types_.annotated(node.type->result, definition.function, 7)
                           : "";
  return fmt::format("def {}{}{}{} {}\n", notationName(definition.name), genericsText(node),
                     parameters(node, definition.function, definition.name), result,
                     body(node.parts[0]));
}

NotationTexts notationTexts(const Program& program, Spelling& spelling) {
  NotationPlan plan = planNotation(program, spelling);
  NotationTexts texts;
  if (plan.hasImport)
    texts.imported = textOf(program, spelling, plan, true);
  texts.program =
      (plan.hasImport ? "import parts\n\n" : "") + textOf(program, spelling, plan, false);
  return texts;
}

} // namespace harness
