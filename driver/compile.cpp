// `baton compile`: what other programs can use of a program, or of the text of an executable.
#include "vm/bytecode/compile.h"
#include "driver/executable_file.h"
#include "driver/fixed_inputs.h"
#include "driver/outputs.h"
#include "driver/products/product.h"
#include "driver/session/budget.h"
#include "driver/session/shown_passes.h"
#include "lower/loops/names.h"
#include "runtime/formats/quote.h"
#include "vm/bytecode/kernel_programs.h"

#include <filesystem>
#include <fmt/format.h>

namespace driver {

namespace {

namespace fs = std::filesystem;

using Made = std::optional<executable::Executable>;

/// False when the answer says why inputs are not fixed.
bool fixed(Session& session, ReadyProgram& ready, const CompileOptions& options, Answer& answer) {
  const RunOptions& calling = options.calling;
  if (std::string problem = fixingProblem(calling, "an executable is compiled"); !problem.empty())
    answer.fail(ExitCode::World, problem);
  else if (calling.fixed.empty())
    return true;
  else if (ready.entries.size() > 1)
    answer.fail(ExitCode::World, "`--fix` is for programs with one entry");
  else
    return fixInputs(session, ready.program, ready.entries[0], calling, answer).has_value();
  return false;
}

/// The executable of a program, or in a file; nothing when the answer says what is wrong.
Made executableOf(Session& session, const CompileOptions& options, const Look& look,
                  Answer& answer) {
  Input input(options.file);
  if (input.isExecutable()) {
    auto made = openExecutable(session, input, options.entries, look, answer);
    return made ? Made(std::move(*made)) : std::nullopt;
  }
  auto fix = [&](ReadyProgram& ready) { return fixed(session, ready, options, answer); };
  auto ready = loadReady(session, std::move(input), options.entries, look, answer,
                         /*isFollowed=*/false, fix);
  if (!ready)
    return std::nullopt;
  try {
    executable::Executable made = makeExecutable(session, *ready);
    bytecode::requireSound(made.program);
    return made;
  } catch (const bytecode::TooLarge& error) {
    answer.fail(ExitCode::Program, fmt::format("{}: the machine has no code for {}",
                                               formats::backquoted(options.file), error.what()));
    return std::nullopt;
  }
}

/// What is wrong with where things go.
std::string pathProblem(const CompileOptions& options) {
  const bool hasHeader = options.emit == "obj" || options.emit == "so";
  const std::string header = fs::path(options.output).replace_extension(".h").string();
  if (hasHeader && header == options.output)
    return fmt::format("{} is where the header goes; give `--output` another ending",
                       formats::backquoted(header));
  return outputProblem(options.file,
                       {{"--output", options.output},
                        {"--output", hasHeader ? std::optional(header) : std::nullopt}});
}

} // namespace

Answer compile(Session& session, const CompileOptions& options, const Look& look) {
  Answer answer;
  if (std::string problem = pathProblem(options); !problem.empty()) {
    answer.fail(ExitCode::World, problem);
    return answer;
  }
  auto targets = targetsNamed(options.targets);
  if (!targets) {
    answer.fail(ExitCode::World, targets.failure().message);
    return answer;
  }
  ShownPasses shown(session, options.view, answer);
  if (!shown.isGood())
    return answer;
  Made made;
  auto make = [&] {
    made = executableOf(session, options, look, answer);
    if (made)
      bytecode::addKernelPrograms(*made, *loops::numbersOf(options.numbers));
  };
  if (withinLimits(options.limits, session, look, answer, make) && made && shown.end())
    writeProduct(options, *std::move(targets), *made, answer);
  return answer;
}

} // namespace driver
