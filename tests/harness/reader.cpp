// Parse, resolve, check; each stage only on what the stages before found no error in.
#include "tests/harness/reader.h"

#include "lang/source/render.h"
#include "parser/baton/parse.h"
#include "parser/metadata/metadata.h"
#include "parser/relay/parse.h"
#include "parser/resolve/resolve.h"
#include "stdlib/ops.h"
#include "stdlib/prelude.h"
#include "typecheck/check.h"

#include <stdexcept>

namespace harness {

using namespace parser;

Reader::Reader(lang::TypeContext& types) : types_(types) {
  for (const stdlib::PreludeFile& text : stdlib::preludeFiles()) {
    const lang::SourceFile* source = sources_.add(std::string(text.name), std::string(text.text));
    lang::Diagnostics diagnostics;
    const auto* file = source ? parseText(trees_, *source, diagnostics) : nullptr;
    if (!file || diagnostics.hasErrors())
      throw std::logic_error("the prelude cannot be read");
    prelude_.push_back(file);
  }
}

const lang::SourceFile& Reader::source(std::string text) {
  const lang::SourceFile* source = sources_.add("program", std::move(text));
  if (!source)
    throw std::length_error("a reader holds at most 2 GiB of text");
  return *source;
}

void Reader::resolveText(ReadText& result, const surface::File& file,
                         const lang::SourceFile& source, const Imports* imports, bool check) {
  lang::Diagnostics& diagnostics = result.diagnostics;
  lang::MetadataTable metadata;
  if (file.metadata.isValid()) {
    auto table = readMetadata(source, file.metadata, diagnostics);
    if (!table)
      return;
    metadata = std::move(*table);
  }
  const lang::OperatorTable& operators = stdlib::operatorTable();
  result.module = resolve(file, source, std::move(metadata), {types_, operators, prelude_, imports},
                          diagnostics);
  if (diagnostics.hasErrors()) {
    result.module = nullptr;
  } else if (check) {
    auto checked = typecheck::checkAndComplete(std::move(result.module), operators, diagnostics);
    result.module = std::move(checked.module);
    result.typing = std::move(checked.typing);
  }
}

ReadText Reader::read(std::string text, bool check, surface::Notation notation) {
  ReadText result;
  const lang::SourceFile& source = this->source(std::move(text));
  const auto* file = notation == surface::Notation::Baton
                         ? baton::parseText(trees_, source, result.diagnostics)
                         : parseText(trees_, source, result.diagnostics);
  if (file && !result.diagnostics.hasErrors())
    resolveText(result, *file, source, nullptr, check);
  return result;
}

ReadText Reader::readImporting(std::string text, std::string imported) {
  ReadText result;
  const lang::SourceFile &source = this->source(std::move(text)),
                         &other = this->source(std::move(imported));
  const auto* file = baton::parseText(trees_, source, result.diagnostics);
  const auto* parts = baton::parseText(trees_, other, result.diagnostics);
  if (!file || !parts || result.diagnostics.hasErrors())
    return result;
  Imports imports{.texts = {{parts, &other, "parts"}}, .places = {}, .common = {}};
  for (const surface::Definition* definition : file->definitions)
    if (const auto* import = surface::tryAs<surface::ImportDefinition>(definition))
      imports.places[import] = 0;
  resolveText(result, *file, source, &imports, true);
  return result;
}

std::string Reader::errorText(const ReadText& text) const {
  std::string errors;
  for (const lang::Diagnostic& diagnostic : text.diagnostics.all())
    if (diagnostic.severity() == lang::Severity::Error)
      errors += lang::renderDiagnostic(diagnostic, sources_);
  return errors;
}

std::vector<std::string> Reader::preludeFunctions() const {
  std::vector<std::string> names;
  for (const surface::File* file : prelude_)
    for (const surface::Definition* definition : file->definitions)
      if (definition->kind == surface::DefinitionKind::Function)
        names.emplace_back(definition->name.text);
  return names;
}

} // namespace harness
