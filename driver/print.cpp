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
  answer.output = parser::wholeText(lang::printModule(
      *program->module, session.operators(), {options.types ? &program->typing : nullptr}));
  return answer;
}

} // namespace driver
