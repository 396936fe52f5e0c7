// Checked once more, since what types say of numbers decides how they are written.
#include "driver/session/own_notation.h"

#include "parser/baton/write.h"
#include "parser/format/format.h"
#include "parser/metadata/metadata.h"
#include "parser/restore/restore.h"
#include "parser/surface/doc_comment.h"
#include "typecheck/check.h"

namespace driver {

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
  text = parser::format::laidOut(std::move(text));
  return parser::wholeText({std::move(text), std::move(restored.metadata), restored.needsMetadata});
}

std::string headText(const parser::surface::Definition& definition) {
  std::string text = parser::format::laidOut(parser::baton::writeHead(definition));
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

} // namespace driver
