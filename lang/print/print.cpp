// The frame of a printed text: header, and definitions in the order of the names that they are
// printed by, so that a text that is read and printed again keeps its order.
#include "lang/print/print.h"

#include "lang/print/expr.h"
#include "lang/print/names.h"
#include "lang/types/repaired_names.h"

#include <algorithm>

namespace lang {

namespace {

constexpr std::string_view header = "#[version = \"0.0.5\"]\n";

std::string constructorText(const Constructor& constructor) {
  std::string fields;
  for (const Type* field : constructor.fields)
    fields += (fields.empty() ? "(" : ", ") + typeText(field);
  return printing::bareName(constructor.name) + (fields.empty() ? "" : fields + ")");
}

std::string definitionText(const TypeDefinition& definition) {
  std::string generics, constructors;
  for (const TypeParameter* generic : definition.generics)
    generics += (generics.empty() ? "[" : ", ") + printing::bareName(generic->name);
  for (const Constructor* constructor : definition.constructors)
    constructors += "  " + constructorText(*constructor) + ",\n";
  return "type " + printing::bareName(definition.name) + (generics.empty() ? "" : generics + "]") +
         " {\n" + (constructors.empty() ? "  \n" : constructors) + "}";
}

/// What the module itself defines, without the prelude, by the name that `nameOf` gives.
template <typename T, typename NameOf>
std::vector<const T*> ownDefinitions(const std::vector<const T*>& all, size_t prelude,
                                     NameOf nameOf) {
  std::vector<std::pair<std::string, const T*>> own;
  for (size_t i = std::min(prelude, all.size()); i < all.size(); ++i)
    own.emplace_back(nameOf(*all[i]), all[i]);
  std::ranges::stable_sort(own, {}, &std::pair<std::string, const T*>::first);
  std::vector<const T*> result;
  for (const auto& [name, definition] : own)
    result.push_back(definition);
  return result;
}

void printDefinitions(const Module& module, printing::ExprPrinter& printer, std::string& out) {
  std::string_view separator = "";
  auto typeName = [](const TypeDefinition& type) { return printing::bareName(type.name); };
  auto globalName = [&](const Global& global) { return printer.globalName(global); };
  for (const TypeDefinition* type :
       ownDefinitions(module.typeDefinitions, module.preludeTypes, typeName)) {
    out += separator;
    out += definitionText(*type) + "\n";
    separator = "\n";
  }
  for (const Global* global : ownDefinitions(module.globals, module.preludeGlobals, globalName)) {
    if (!global->function)
      continue;
    out += separator;
    printer.definition(*global, out);
    out += '\n';
    separator = "\n";
  }
}

Printed finish(std::string text, const printing::ExprPrinter& printer) {
  const printing::MetadataCollector& metadata = printer.metadata();
  return {std::move(text), metadata.table(), !metadata.isEmpty()};
}

} // namespace

Printed printModule(const Module& module, const OperatorTable& operators,
                    const PrintOptions& options) {
  printing::ExprPrinter printer(module, operators, options);
  std::string text(header);
  const Global* main = module.form == ModuleForm::Definitions ? nullptr : module.find("main");
  if (!main)
    printDefinitions(module, printer, text);
  else if (module.form == ModuleForm::Function)
    printer.expression(*main->function, text);
  else
    printer.openExpression(*main->function, text);
  if (main)
    text += '\n';
  return finish(std::move(text), printer);
}

Printed printGlobal(const Module& module, const Global& global, const OperatorTable& operators,
                    const PrintOptions& options) {
  printing::ExprPrinter printer(module, operators, options);
  std::string text;
  if (global.function)
    printer.definition(global, text);
  else
    text = printer.atomText(global);
  return finish(text + "\n", printer);
}

Printed printExpr(const Module& module, const Expr& expr, const OperatorTable& operators,
                  const PrintOptions& options) {
  printing::ExprPrinter printer(module, operators, options);
  std::string text;
  printer.expression(expr, text);
  return finish(text + "\n", printer);
}

} // namespace lang
