// `baton print`: the canonical text. Without types a program need not be well typed.
#include "driver/commands.h"

#include "lang/print.h"
#include "lang/render.h"
#include "parser/metadata.h"

namespace driver {

Answer print(Session& session, const PrintOptions& options, const Look& look) {
  Answer answer;
  auto program = session.load(options.file, options.types ? Stage::Checked : Stage::Resolved);
  if (!program) {
    answer.fail(ExitCode::World, program.failure().message);
    return answer;
  }
  answer.errors =
      lang::renderDiagnostics(program->diagnostics, session.sources(), options.file, {look.colour});
  if (!program->isGood()) {
    answer.code = ExitCode::Program;
    return answer;
  }
  lang::Printed printed = lang::printModule(*program->module, session.operators(),
                                            {options.types ? &program->typing : nullptr});
  answer.output = std::move(printed.text);
  if (printed.needsMetadata)
    answer.output += "\n#[metadata]\n" + parser::writeMetadata(printed.metadata) + "\n";
  return answer;
}

} // namespace driver
