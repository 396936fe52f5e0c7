// `baton opt` and `baton passes`: passes over a program, those that are named or those of a run.
#include "driver/budget.h"
#include "driver/executable_file.h"
#include "driver/find_global.h"
#include "driver/load.h"
#include "driver/pass_options.h"
#include "driver/shown_passes.h"

#include <fmt/format.h>

namespace driver {

namespace {

/// Where a run takes programs through passes for.
constexpr std::string_view forMachine = "machine", forDerivatives = "derivatives";

/// Takes a program through passes that are named.
void runNamed(Session& session, Program& program, const OptOptions& options, const Look& look,
              Answer& answer) {
  std::vector<const transform::PassRow*> passes;
  for (const std::string& name : options.passes)
    passes.push_back(transform::findPass(name));
  lang::Diagnostics findings;
  const std::string_view entries[] = {options.calling.entry};
  auto made = transform::runPasses(*program.module, program.typing, passes,
                                   passOptions(session, entries, findings));
  if (findings.hasErrors()) {
    answer.errors += findingsText(session, findings, options.calling.file, look);
    answer.code = ExitCode::Program;
  } else if (!made) {
    answer.fail(ExitCode::World, made.failure().text);
  } else {
    program.module = std::move(made->module);
    program.typing = std::move(made->typing);
  }
}

/// Takes a program the way that it takes before a run.
void runWay(Session& session, Program& program, const OptOptions& options, const Look& look,
            Answer& answer) {
  const lang::Module* text = program.module.get();
  const std::string_view entries[] = {options.calling.entry};
  RunOptions how{.file = options.calling.file};
  if (!writeOutDerivatives(session, program, entries, how, look, answer))
    return;
  if (options.way == forMachine)
    prepareForMachine(session, program, entries);
  else if (program.module.get() == text)
    answer.errors += "note: the program asks for no derivatives, so no passes run\n";
}

/// Why the words cannot be followed, or an empty text.
std::string problemOf(const OptOptions& options) {
  if (!options.passes.empty() && !options.way.empty())
    return "`--passes` and `--for` both say which passes run; give one of them";
  if (options.passes.empty() && options.way.empty())
    return "nothing says which passes run; give `--passes` or `--for`";
  if (!options.way.empty() && options.way != forMachine && options.way != forDerivatives)
    return fmt::format("a run takes programs through passes for `{}` and for `{}`", forMachine,
                       forDerivatives);
  return "";
}

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

} // namespace

Answer opt(Session& session, const OptOptions& given, const Look& look) {
  Answer answer;
  OptOptions options = given;
  for (const std::string& name : options.passes)
    isPass(name, answer);
  const PassView view = viewOf(options);
  ShownPasses shown(session, view, answer);
  if (std::string problem = problemOf(options); !problem.empty())
    answer.fail(ExitCode::World, problem);
  if (answer.code != ExitCode::Good)
    return answer;
  auto program = loadGood(session, options.calling.file, look, answer);
  if (!program)
    return answer;
  if (!options.way.empty() || options.calling.isEntrySaid) {
    const lang::Global* entry =
        findGlobal(*program->module, options.calling.entry, "--entry", answer);
    if (!entry)
      return answer;
    options.calling.entry = entry->name;
  }
  auto runAll = [&] {
    options.way.empty() ? runNamed(session, *program, options, look, answer)
                        : runWay(session, *program, options, look, answer);
  };
  if (!withinLimits(options.calling.limits, session, look, answer, runAll) ||
      answer.code != ExitCode::Good)
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
