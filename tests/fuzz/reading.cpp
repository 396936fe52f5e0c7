// The promises: a text that has no meaning has an error that can be shown; a text that has one is a
// sound module, and its printed form reads back and prints the same, with types and without.
#include "tests/fuzz/reading.h"

#include "driver/session/hover.h"
#include "lang/ir/verify.h"
#include "lang/print/print.h"
#include "lang/source/render.h"
#include "parser/metadata/metadata.h"
#include "stdlib/ops.h"

#include <fmt/format.h>

namespace testing {

namespace {

using driver::Program;
using driver::Session;
using driver::Stage;

std::string printed(Session& session, const Program& program, bool types) {
  return parser::wholeText(
      lang::printModule(*program.module, session.operators(), {types ? &program.typing : nullptr}));
}

std::string shown(const Session& session, const Program& program) {
  return lang::renderDiagnostics(program.diagnostics, session.sources(), "text", {.colour = true});
}

/// Prints, reads and prints again.
std::string brokenRoundTrip(Session& session, const Program& program, Stage stage) {
  bool types = stage == Stage::Checked;
  std::string first = printed(session, program, types);
  auto again = session.loadText("printed", first, stage);
  if (!again)
    return "the printed text is refused: " + again.failure().message;
  if (!again->isGood())
    return fmt::format("the printed text is refused:\n{}\n{}", shown(session, *again), first);
  std::string second = printed(session, *again, types);
  if (first != second)
    return fmt::format("printing again gives another text:\n{}\nand then\n{}", first, second);
  return "";
}

/// Asks about some places of a text that has no meaning as a whole.
void ask(const std::string& text) {
  constexpr uint32_t mostPlaces = 4;
  Session session(stdlib::operatorTable());
  auto program = session.loadText("text", text, Stage::Guessed);
  if (!program || !program->module)
    return;
  lang::SourceRange range = program->source->range();
  for (uint32_t i = 0; i < mostPlaces; ++i)
    driver::hoverAt(session, *program, range.begin + (range.end - range.begin) / mostPlaces * i);
}

/// The promises for a text that is taken as far as `stage`; `isGood` tells whether it had a
/// meaning.
std::string brokenAt(const std::string& text, Stage stage, bool& isGood) {
  Session session(stdlib::operatorTable());
  auto program = session.loadText("text", text, stage);
  if (!program)
    return "";
  std::string errors = shown(session, *program);
  isGood = program->isGood();
  if (!isGood)
    ask(text);
  if (!isGood)
    return program->diagnostics.hasErrors() && !errors.empty() ? "" : "refused without an error";
  for (const std::string& problem : lang::verify(*program->module))
    return "the verifier says: " + problem;
  return brokenRoundTrip(session, *program, stage);
}

} // namespace

std::string brokenPromise(const std::string& text) {
  bool isGood = false;
  std::string broken = brokenAt(text, Stage::Resolved, isGood);
  return broken.empty() && isGood ? brokenAt(text, Stage::Checked, isGood) : broken;
}

} // namespace testing
