// From a path to a checked module. A stage runs only on what the stages before it found no error
// in, so one mistake is not reported again as many; where somebody asks about a wrong program, what
// later stages report is of no interest.
#include "driver/session/session.h"

#include "driver/session/suggestions.h"
#include "driver/session/tests.h"
#include "lang/source/utf8.h"
#include "parser/baton/parse.h"
#include "parser/metadata/metadata.h"
#include "parser/relay/parse.h"
#include "parser/resolve/resolve.h"
#include "stdlib/prelude.h"
#include "typecheck/check.h"

#include <fmt/format.h>

namespace driver {

std::span<const parser::surface::File* const> Session::prelude() {
  if (!prelude_.empty())
    return prelude_;
  for (const stdlib::PreludeFile& text : stdlib::preludeFiles()) {
    const lang::SourceFile* source = sources_.add(std::string(text.name), std::string(text.text));
    lang::Diagnostics diagnostics;
    const auto* file = source ? parser::parseText(trees_, *source, diagnostics) : nullptr;
    if (!file || diagnostics.hasErrors())
      throw std::logic_error("the prelude cannot be read");
    prelude_.push_back(file);
  }
  return prelude_;
}

lang::Diagnostics Session::noFindings() const {
  lang::Diagnostics diagnostics;
  for (lang::Message warning : silenced_)
    diagnostics.silence(warning);
  return diagnostics;
}

void Session::read(Program& program, Stage stage) {
  lang::Diagnostics& diagnostics = program.diagnostics = noFindings();
  const auto* file = program.source->notation() == lang::Notation::Baton
                         ? parser::baton::parseText(trees_, *program.source, diagnostics)
                         : parser::parseText(trees_, *program.source, diagnostics, &operators_);
  program.tree = file;
  bool isGuessed = stage == Stage::Guessed;
  if (file && (!diagnostics.hasErrors() || isGuessed))
    program.imports = imported_.of(*file, *program.source, diagnostics);
  if (!file || (diagnostics.hasErrors() && !isGuessed))
    return;
  auto sink = [&]() -> lang::Diagnostics& {
    return diagnostics.hasErrors() ? program.consequences : diagnostics;
  };
  lang::MetadataTable metadata;
  if (file->metadata.isValid()) {
    auto table = parser::readMetadata(*program.source, file->metadata, sink());
    if (table)
      metadata = std::move(*table);
    else if (!isGuessed)
      return;
  }
  program.module =
      parser::resolve(*file, *program.source, std::move(metadata),
                      {types_, operators_, prelude(), &program.imports, withTests_}, sink());
  if (diagnostics.hasErrors() && !isGuessed) {
    program.module = nullptr;
  } else if (stage != Stage::Resolved || program.module->isOpen) {
    auto checked = typecheck::checkAndComplete(std::move(program.module), operators_, sink());
    program.module = std::move(checked.module);
    program.typing = std::move(checked.typing);
    program.open = std::move(checked.open);
    if (withTests_ && program.module)
      checkTests(program, sink());
  }
}

runtime::Result<Program> Session::loadText(std::string name, std::string text, Stage stage) {
  Program program;
  program.source = sources_.add(std::move(name), lang::withoutByteOrderMark(std::move(text)));
  if (!program.source)
    return runtime::Error{"the texts of one run can have at most 2 GiB together"};
  read(program, stage);
  program.diagnostics.sortByPlace();
  if (suggestions_ == Suggestions::ThatHelp)
    keepWhatHelps(program, operators_, sources_, withTests_);
  return program;
}

runtime::Result<Program> Session::load(Input input, Stage stage) {
  if (input.isExecutable())
    return runtime::Error{fmt::format("{} is an executable and no program; `baton run`, `baton "
                                      "compile` and `baton disasm` take it",
                                      input.quoted())};
  auto text = input.read();
  if (!text)
    return text.failure();
  return loadText(sourceName(input.path()), *std::move(text), stage);
}

} // namespace driver
