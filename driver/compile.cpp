// `baton compile`: an executable of a program.
#include "bytecode/export.h"
#include "driver/derive.h"
#include "driver/executable_file.h"
#include "formats/file.h"
#include "formats/quote.h"
#include "lang/print.h"
#include "parser/metadata.h"

#include <fmt/format.h>

namespace driver {

Answer compile(Session& session, const CompileOptions& options, const Look& look) {
  Answer answer;
  auto ready = loadReady(session, options.file, options.entry, look, answer);
  if (!ready)
    return answer;
  try {
    bytecode::Exported exported = bytecode::exportProgram(
        *ready->program.module, ready->program.typing, session.operators(), ready->global());
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
