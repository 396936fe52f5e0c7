// Loading and reporting in one step.
#include "driver/session/load.h"

#include "lang/source/render.h"

namespace driver {

std::string findingsText(const Session& session, const lang::Diagnostics& findings,
                         const std::string& file, const Look& look) {
  return lang::renderDiagnostics(findings, session.sources(), sourceName(file), {look.colour});
}

std::optional<Program> loadGood(Session& session, Input input, const Look& look, Answer& answer,
                                Stage stage) {
  const std::string file = input.path();
  auto program = session.load(std::move(input), stage);
  if (!program) {
    answer.fail(ExitCode::World, program.failure().message);
    return std::nullopt;
  }
  answer.errors += findingsText(session, program->diagnostics, file, look);
  if (program->isGood())
    return std::move(*program);
  answer.code = std::max(answer.code, ExitCode::Program);
  return std::nullopt;
}

} // namespace driver
