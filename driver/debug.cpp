// `baton debug`: runs a program as often as it is asked to.
#include "driver/arguments.h"
#include "driver/budget.h"
#include "driver/debugger.h"
#include "driver/derive.h"
#include "driver/engines.h"
#include "driver/value_text.h"
#include "interp/interpret.h"

namespace driver {

namespace {

void debugProgram(Session& session, Program& program, const RunOptions& options, const Look& look,
                  Answer& answer) {
  auto tell = [&](const std::string& text) {
    look.tell ? look.tell(text) : void(answer.output += text);
  };
  Arguments arguments =
      readArguments(*program.module->find(options.entry), program.typing, session.types(), options);
  for (const std::string& problem : arguments.problems)
    answer.fail(ExitCode::World, problem);
  if (!arguments.problems.empty())
    return;
  for (const std::string& note : arguments.notes)
    tell("note: " + note + '\n');
  auto engine = engineOf(options.engine, 0);
  if (!engine)
    return answer.fail(ExitCode::World, engine.failure().message);
  Debugger debugger(session, program, look, tell);
  interp::Options how{.engine = *engine};
  how.limits = options.limits;
  how.show = [&](const runtime::Value& value, lang::SourceRange) {
    tell(valueText(value, session.types(), program.typing) + '\n');
  };
  how.observer = &debugger.observer();
  while (debugger.awaitStart()) {
    auto result = interp::interpret(*program.module, program.typing, session.operators(),
                                    *program.module->find(options.entry), arguments.values, how);
    debugger.end(std::get_if<runtime::Value>(&result));
  }
}

} // namespace

Answer debug(Session& session, const RunOptions& options, const Look& look) {
  Answer answer;
  if (options.file == "-") {
    answer.fail(ExitCode::World,
                "commands come from standard input, so the program must be a file");
    return answer;
  }
  std::optional<ReadyProgram> ready;
  auto load = [&] {
    ready = loadReady(session, options.file, std::array{options.entry}, look, answer);
  };
  if (!withinLimits(options.limits, session, look, answer, load) || !ready)
    return answer;
  if (look.show)
    look.show(std::exchange(answer.errors, ""));
  RunOptions named = options;
  named.entry = ready->entries.front();
  debugProgram(session, ready->program, named, look, answer);
  return answer;
}

} // namespace driver
