// `baton compile`: an executable of a program.
#include "bytecode/export.h"
#include "driver/derive.h"
#include "driver/executable_file.h"
#include "driver/find_global.h"
#include "driver/load.h"
#include "formats/file.h"
#include "formats/quote.h"
#include "lang/print.h"
#include "parser/metadata.h"

#include <fmt/format.h>

namespace driver {

Answer compile(Session& session, const CompileOptions& options, const Look& look) {
  Answer answer;
  auto program = loadGood(session, options.file, look, answer);
  if (!program)
    return answer;
  const lang::Global* entry = findGlobal(*program->module, options.entry, "--entry", answer);
  if (!entry)
    return answer;
  const std::string name(entry->name);
  if (!writeOutDerivatives(session, *program, *entry, {.file = options.file}, look, answer))
    return answer;
  try {
    bytecode::Exported exported = bytecode::exportProgram(
        *program->module, program->typing, session.operators(), *program->module->find(name));
    keepSources(exported.executable, session.sources());
    exported.executable.language =
        parser::wholeText(lang::printModule(*exported.language, session.operators()));
    const std::vector<std::byte> bytes = executable::write(exported.executable);
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (auto written = formats::writeFile(options.output, text); !written)
      answer.fail(ExitCode::World, written.failure().message);
  } catch (const bytecode::TooLarge& error) {
    answer.fail(ExitCode::Program, fmt::format("the machine has no code for {}", error.what()));
  }
  return answer;
}

} // namespace driver
