// Signatures as the text format writes types.
#include "driver/session/definition_text.h"

#include "driver/session/tests.h"

#include "driver/session/own_notation.h"
#include "lang/source/utf8.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>
#include <utility>

namespace driver {

const lang::Type* globalType(const Program& program, const lang::Global& global) {
  if (!global.function)
    return nullptr;
  return lang::functionType(program.module->types, *global.function, program.typing);
}

std::string definitionText(const lang::TypeDefinition& definition, lang::Notation notation) {
  std::string generics, constructors;
  for (const lang::TypeParameter* generic : definition.generics)
    generics += (generics.empty() ? "" : ", ") + std::string(generic->name);
  for (const lang::Constructor* constructor : definition.constructors) {
    constructors +=
        (constructors.empty() ? "" : ", ") + lang::plainName(constructor->name).in(notation);
    std::string fields;
    for (const lang::Type* field : constructor->fields)
      fields += (fields.empty() ? "" : ", ") + lang::typeText(field, notation);
    if (!fields.empty())
      constructors += "(" + fields + ")";
  }
  std::string text = fmt::format("{}type {}", definition.isExtern ? "extern " : "",
                                 lang::plainName(definition.name).in(notation));
  if (!generics.empty())
    text += "[" + generics + "]";
  if (!definition.isExtern)
    text += constructors.empty() ? " {}" : " { " + constructors + " }";
  return lang::printable(text);
}

/// Whether a place is in a text that a program imports.
static bool isImported(const Program& program, lang::SourceRange range) {
  return std::ranges::any_of(program.imports.texts,
                             [&](const auto& text) { return text.source->contains(range); });
}

std::vector<const lang::Global*> ownGlobals(const Program& program) {
  const lang::Module& module = *program.module;
  std::vector<const lang::Global*> own;
  for (const lang::Global* global : std::span(module.globals).subspan(module.preludeGlobals))
    if (!isImported(program, global->range) && !isTest(*global))
      own.push_back(global);
  return own;
}

namespace {

std::string lineOf(const Program& program, const lang::Global& global) {
  if (!global.function)
    return "";
  const lang::Notation notation = program.notation();
  return fmt::format("{} : {}\n", lang::globalName(lang::printable(global.name)).in(notation),
                     lang::typeText(globalType(program, global), notation));
}

/// The heads of open definitions as they are written, by where their names begin.
std::unordered_map<uint32_t, std::string> openHeads(const Program& program) {
  std::unordered_map<uint32_t, std::string> heads;
  for (lang::SourceRange place : program.open)
    heads[place.begin];
  for (const parser::surface::Definition* definition : program.tree->definitions)
    if (auto open = heads.find(definition->name.range.begin);
        open != heads.end() && definition->kind == parser::surface::DefinitionKind::Function)
      open->second = fmt::format("open {}\n", headText(*definition));
  return heads;
}

/// Functions with their types; the instances of an open definition stand under its head.
std::string functionLines(const Program& program) {
  std::unordered_map<uint32_t, std::string> heads = openHeads(program);
  std::string text;
  for (const lang::Global* global : ownGlobals(program)) {
    auto open = heads.find(global->range.begin);
    if (open == heads.end()) {
      text += lineOf(program, *global);
      continue;
    }
    text += std::exchange(open->second, "") + "  " + lineOf(program, *global);
  }
  for (lang::SourceRange place : program.open)
    text += heads[place.begin];
  return text;
}

} // namespace

std::string definitionLines(const Program& program) {
  const lang::Module& module = *program.module;
  std::string text;
  for (const lang::TypeDefinition* type :
       std::span(module.typeDefinitions).subspan(module.preludeTypes))
    if (!isImported(program, type->range))
      text += definitionText(*type, program.notation()) + '\n';
  return text + functionLines(program);
}

} // namespace driver
