// `baton opt` and `baton passes`: passes over a program, those that are named or those of a run.
#include "driver/arguments.h"
#include "driver/bisection.h"
#include "driver/pass_ways.h"
#include "driver/session/budget.h"
#include "driver/session/find_global.h"
#include "driver/session/load.h"
#include "driver/session/shown_passes.h"
#include "interp/reference.h"

#include <fmt/format.h>

namespace driver {

namespace {

/// What a derivative is written from is shown too, where nothing else is asked for.
PassView viewOf(const OptOptions& options) {
  PassView view = options.calling.view;
  if (options.way != forDerivatives || !view.printAfter.empty() || !view.stopAfter.empty())
    return view;
  std::string_view before;
  for (const transform::Step& step : transform::derivativePipeline.steps) {
    if (step.pass == forDerivatives)
      break;
    before = step.pass;
  }
  view.printAfter.emplace_back(before);
  return view;
}

/// Looks for the pass that changes what the program gives.
void bisect(Session& session, Program& program, const OptOptions& options, const Look& seen,
            Answer& answer) {
  const lang::Global& entry = *program.module->find(options.calling.entry);
  Arguments arguments = readArguments(entry, program, session.types(), options.calling);
  for (const std::string& problem : arguments.problems)
    answer.fail(ExitCode::World, problem);
  if (!arguments.problems.empty())
    return;
  interp::Options how{.engine = interp::referenceEngine()};
  how.limits = options.calling.limits;
  Bisection bisection(session, *program.module, program.typing, options.calling.entry,
                      std::move(arguments.values), how, options.calling.grad);
  auto look = [&](std::string_view pass, const lang::Module& module, const lang::Typing& typing) {
    bisection.look(pass, module, typing);
  };
  session.watchPasses({look, look, /*verify=*/true});
  try {
    runPassesOf(session, program, options, seen, answer);
  } catch (const transform::PassFault& fault) {
    bisection.refuse(fault);
  }
  if (answer.code != ExitCode::Good)
    return;
  answer.errors += bisection.notes();
  const bool isGood = bisection.isCompared() && !bisection.isFound();
  (isGood ? answer.output : answer.errors) += bisection.report();
  if (!isGood)
    answer.code = bisection.isFound() ? ExitCode::Fault : ExitCode::Program;
}

} // namespace

Answer opt(Session& session, const OptOptions& given, const Look& look) {
  Answer answer;
  OptOptions options = given;
  if (options.bisects && options.passes.empty() && options.way.empty())
    options.way = forMachine;
  for (const std::string& name : options.passes)
    isPass(name, answer);
  const PassView view = viewOf(options);
  ShownPasses shown(session, view, answer);
  if (std::string problem = passProblem(options); !problem.empty())
    answer.fail(ExitCode::World, problem);
  if (answer.code != ExitCode::Good)
    return answer;
  auto program = loadGood(session, options.calling.file, look, answer);
  if (!program)
    return answer;
  const bool isCalled = options.bisects || !options.way.empty() || options.calling.isEntrySaid;
  if (isCalled) {
    const lang::Global* entry =
        findGlobal(*program, options.calling.entry, "--entry", answer);
    if (!entry)
      return answer;
    options.calling.entry = entry->name;
  }
  auto runAll = [&] {
    options.bisects ? bisect(session, *program, options, look, answer)
                    : runPassesOf(session, *program, options, look, answer);
  };
  if (!withinLimits(options.calling.limits, session, look, answer, runAll) ||
      answer.code != ExitCode::Good || options.bisects)
    return answer;
  const bool isOwnView = view.printAfter != options.calling.view.printAfter;
  if (isOwnView || shown.end())
    answer.output = passedText(session, *program->module);
  return answer;
}

Answer passes() {
  Answer answer;
  for (const transform::PassRow& row : transform::passRows())
    answer.output += fmt::format("{:<24} {}\n", row.name, row.doc);
  for (const transform::Pipeline* pipeline : transform::pipelines()) {
    answer.output += fmt::format("\n{}: {}\n", pipeline->name, pipeline->doc);
    for (const transform::Step& step : pipeline->steps)
      answer.output += fmt::format(
          "  {}{}\n", step.pass,
          step.times == 1 ? ""
                          : fmt::format(", up to {} times, while it finds something", step.times));
  }
  return answer;
}

} // namespace driver
