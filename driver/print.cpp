// `baton print`: the canonical text. Without types a program need not be well typed.
#include "lang/print/print.h"
#include "driver/session/load.h"
#include "driver/session/own_notation.h"
#include "parser/metadata/metadata.h"

namespace driver {

Answer print(Session& session, const PrintOptions& options, const Look& look) {
  Answer answer;
  auto program = loadGood(session, options.file, look, answer,
                          options.types ? Stage::Checked : Stage::Resolved);
  if (!program)
    return answer;
  if (options.notation == "baton") {
    answer.output = ownNotation(session, *program, options.types);
    return answer;
  }
  answer.output = parser::wholeText(lang::printModule(
      *program->module, session.operators(), {options.types ? &program->typing : nullptr}));
  return answer;
}

} // namespace driver
