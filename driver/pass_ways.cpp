// Passes that are named, or those of a run, by what runs them there.
#include "driver/pass_ways.h"

#include "driver/arguments.h"
#include "driver/executable_file.h"
#include "driver/session/load.h"
#include "driver/session/pass_options.h"
#include "runtime/formats/quote.h"

#include <array>
#include <fmt/format.h>

namespace driver {

namespace {

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
  how.grad = options.calling.grad;
  if (!writeOutDerivatives(session, program, entries, how, look, answer))
    return;
  const std::string called(how.grad ? program.module->globals.back()->name : entries[0]);
  if (options.way == forMachine)
    prepareForMachine(session, program, std::array<std::string_view, 1>{called});
  else if (program.module.get() == text)
    answer.errors += "note: the program asks for no derivatives, so no passes run\n";
}

} // namespace

std::string passProblem(const OptOptions& options) {
  const RunOptions& calling = options.calling;
  if (givesInputs(calling) && !options.bisects)
    return "inputs are for `--bisect`, and nothing else here runs the program";
  if (options.bisects && !(calling.view.printAfter.empty() && calling.view.stopAfter.empty() &&
                           calling.view.skipped.empty()))
    return "`--bisect` goes through all passes, and shows no program but where one is wrong; leave "
           "out `--print-after`, `--stop-after` and `--skip-pass`";
  if (!options.passes.empty() && calling.grad)
    return "`--grad` is a way that runs go, and `--passes` says another one; give one of them";
  if (!options.passes.empty() && !options.way.empty())
    return "`--passes` and `--for` both say which passes run; give one of them";
  if (options.passes.empty() && options.way.empty())
    return "nothing says which passes run; give `--passes` or `--for`";
  if (!options.way.empty() && options.way != forMachine && options.way != forDerivatives)
    return fmt::format("a run takes programs through passes for `{}` and for `{}`, and not for {}",
                       forMachine, forDerivatives, formats::backquoted(options.way));
  return "";
}

void runPassesOf(Session& session, Program& program, const OptOptions& options, const Look& look,
                 Answer& answer) {
  options.way.empty() ? runNamed(session, program, options, look, answer)
                      : runWay(session, program, options, look, answer);
}

} // namespace driver
