// All that is no generic definition is an entry.
#include "tests/fuzz/compiled.h"

#include "driver/session/session.h"
#include "lang/print/print.h"
#include "parser/metadata/metadata.h"
#include "stdlib/ops.h"
#include "vm/assembly/text.h"
#include "vm/bytecode/export.h"
#include "vm/bytecode/kernel_programs.h"

namespace fuzz {

std::vector<std::byte> compileFile(const std::string& path) {
  driver::Session session{stdlib::operatorTable()};
  auto program = session.load(path);
  if (!program || !program->isGood() || !program->module->find("main"))
    return {};
  std::vector<const lang::Global*> entries{program->module->find("main")};
  for (const lang::Global* global :
       std::span(program->module->globals).subspan(program->module->preludeGlobals))
    if (global != entries[0] && global->function &&
        program->typing.generics(*global->function).empty())
      entries.push_back(global);
  bytecode::Exported exported =
      bytecode::exportProgram(*program->module, program->typing, session.operators(), entries);
  exported.executable.language =
      parser::wholeText(lang::printModule(*exported.language, session.operators()));
  bytecode::addKernelPrograms(exported.executable, loops::Numbers::Reordered);
  return executable::write(exported.executable);
}

std::string textOf(const std::vector<std::byte>& bytes) {
  return assembly::text(**read(bytes));
}

Outcome tryText(std::string text) {
  lang::Diagnostics findings;
  const lang::SourceFile file("text", std::move(text), 1);
  auto made = assembly::assemble(file, findings);
  if (!made && !findings.hasErrors())
    throw std::logic_error("a text is refused without a word");
  if (!made)
    return {};
  return {true, run(*made)};
}

} // namespace fuzz
