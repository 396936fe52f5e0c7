// `baton debug`: runs a program as often as it is asked to.
#include "codegen/strips/compile/sized.h"
#include "driver/arguments.h"
#include "driver/debug/debugger.h"
#include "driver/running.h"
#include "driver/session/budget.h"
#include "driver/session/derive.h"
#include "driver/values/text.h"
#include "interp/interpret.h"

namespace driver {

namespace {

void debugProgram(Session& session, Program& program, const RunOptions& options, const Look& look,
                  Answer& answer) {
  auto tell = [&](const std::string& text) {
    look.tell ? look.tell(text) : void(answer.output += text);
  };
  Arguments arguments =
      readArguments(*program.module->find(options.entry), program, session.types(), options);
  for (const std::string& problem : arguments.problems)
    answer.fail(ExitCode::World, problem);
  if (!arguments.problems.empty())
    return;
  for (const std::string& note : arguments.notes)
    tell("note: " + note + '\n');
  interp::Options how{.engine = strips::stripsEngine()};
  how.limits = options.limits;
  Evaluator evaluator(session, program, how);
  Debugger debugger(session, program, evaluator, look, tell);
  std::map<uint32_t, int64_t> shownAt;
  how.show = [&](const runtime::Value& value, const runtime::Shown& shown) {
    if (shown.every <= 1 || shownAt[shown.where.begin]++ % shown.every == 0)
      tell(shownText(shown, value, [&](const runtime::Value& each) {
        return valueText(each, session.types(), program.typing, {program.isBare()});
      }));
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
    ready = loadReady(session, options.file, std::array{options.entry}, look, answer,
                      /*isFollowed=*/true);
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
