// Signatures as the text format writes types.
#include "driver/definition_text.h"

#include "lang/utf8.h"
#include "typecheck/check.h"

#include <fmt/format.h>

namespace driver {

const lang::Type* globalType(lang::TypeContext& types, const lang::Global& global) {
  const lang::Function* function = global.function;
  if (!function || !function->resultType)
    return nullptr;
  for (const lang::Var* parameter : function->parameters)
    if (!parameter->type)
      return nullptr;
  return typecheck::functionType(types, *function);
}

std::string definitionText(const lang::TypeDefinition& definition) {
  std::string generics, constructors;
  for (const lang::TypeParameter* generic : definition.generics)
    generics += (generics.empty() ? "" : ", ") + std::string(generic->name);
  for (const lang::Constructor* constructor : definition.constructors) {
    constructors += (constructors.empty() ? "" : ", ") + std::string(constructor->name);
    std::string fields;
    for (const lang::Type* field : constructor->fields)
      fields += (fields.empty() ? "" : ", ") + lang::typeText(field);
    if (!fields.empty())
      constructors += "(" + fields + ")";
  }
  std::string text =
      fmt::format("{}type {}", definition.isExtern ? "extern " : "", definition.name);
  if (!generics.empty())
    text += "[" + generics + "]";
  if (!definition.isExtern)
    text += constructors.empty() ? " {}" : " { " + constructors + " }";
  return lang::printable(text);
}

std::string definitionLines(const lang::Module& module) {
  std::string text;
  for (const lang::TypeDefinition* type :
       std::span(module.typeDefinitions).subspan(module.preludeTypes))
    text += definitionText(*type) + '\n';
  for (const lang::Global* global : std::span(module.globals).subspan(module.preludeGlobals))
    if (global->function)
      text += fmt::format("@{} : {}\n", lang::printable(global->name),
                          lang::typeText(globalType(module.types, *global)));
  return text;
}

} // namespace driver
