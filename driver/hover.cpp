// `baton check --hover`: what stands at a place.
#include "driver/session/hover.h"

#include "driver/commands.h"
#include "driver/session/load.h"
#include "lang/source/utf8.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

namespace {

/// Whether something was reported at a place, or the text could not be read at all.
bool isMistaken(const Program& program, uint32_t offset) {
  return !program.module ||
         std::ranges::any_of(program.diagnostics.all(), [&](const lang::Diagnostic& item) {
           return item.range.begin <= offset && offset < item.range.end;
         });
}

} // namespace

Answer hover(Session& session, const CheckOptions& options, const Look& look) {
  Answer answer;
  auto place = readPlace(options.hover);
  if (!place || options.files.size() != 1) {
    answer.fail(ExitCode::World, "--hover takes a place LINE:COL of one program");
    return answer;
  }
  auto program = session.load(options.files[0], Stage::Guessed);
  if (!program) {
    answer.fail(ExitCode::World, program.failure().message);
    return answer;
  }
  const lang::SourceFile& source = *program->source;
  std::string_view line = source.line(place->line);
  std::optional<uint32_t> offset;
  if (place->column <= line.size())
    offset = source.base() + uint32_t(line.data() - source.text().data()) + place->column - 1;
  std::optional<Hover> found;
  if (program->module && offset)
    found = hoverAt(session, *program, *offset);
  if (!found && offset && isMistaken(*program, *offset)) {
    answer.code = ExitCode::Program;
    answer.errors = findingsText(session, program->diagnostics, options.files[0], look);
  } else if (!found)
    answer.fail(ExitCode::Program,
                fmt::format("no expression stands at {}:{}:{}", lang::printable(source.name()),
                            place->line, place->column));
  else
    answer.output = options.json ? hoverJson(*found, session.sources()) + '\n' : hoverText(*found);
  return answer;
}

} // namespace driver
