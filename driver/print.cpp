// `baton print`: the canonical text. Without types a program need not be well typed.
#include "lang/print/print.h"
#include "driver/session/load.h"
#include "parser/baton/write.h"
#include "parser/metadata/metadata.h"
#include "parser/restore/restore.h"
#include "parser/surface/doc_comment.h"
#include "typecheck/check.h"

namespace driver {

namespace {

/// The whole text in Baton's notation. Numbers of a program that is ill-typed keep their types.
std::string ownNotation(Session& session, const Program& program, bool showsTypes) {
  lang::Arena arena;
  lang::Diagnostics findings;
  lang::Typing typing = typecheck::checkModule(*program.module, session.operators(), findings);
  parser::Restored restored = parser::restore(arena, *program.module, session.operators(),
                                              findings.hasErrors() ? nullptr : &typing, showsTypes);
  std::string text =
      parser::baton::write(*restored.file, [&](const parser::surface::Definition& definition) {
        return parser::docComment(*program.tree, *program.source, definition.name.range);
      });
  return parser::wholeText({std::move(text), std::move(restored.metadata), restored.needsMetadata});
}

} // namespace

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
