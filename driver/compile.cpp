// `baton compile`: an executable of a program, or of the text of one.
#include "vm/bytecode/compile.h"
#include "driver/executable_file.h"
#include "driver/fixed_inputs.h"
#include "driver/outputs.h"
#include "driver/session/budget.h"
#include "driver/session/shown_passes.h"
#include "lower/loops/names.h"
#include "runtime/formats/file.h"
#include "runtime/formats/quote.h"
#include "vm/bytecode/kernel_programs.h"

#include <fmt/format.h>

namespace driver {

namespace {

/// The bytes of an executable, whose kernels get what runs them where nothing makes kernels.
std::vector<std::byte> complete(executable::Executable& made, const CompileOptions& options) {
  bytecode::addKernelPrograms(made, *loops::numbersOf(options.numbers));
  return executable::write(made);
}

/// False when the answer says why inputs are not fixed.
bool fixed(Session& session, ReadyProgram& ready, const CompileOptions& options, Answer& answer) {
  const RunOptions& calling = options.calling;
  if (calling.fixed.empty() && calling.inputs.empty() && calling.texts.empty() && !calling.seed)
    return true;
  if (calling.fixed.empty())
    answer.fail(ExitCode::World,
                "an executable is compiled with inputs where `--fix` names their parameters");
  else if (ready.entries.size() > 1)
    answer.fail(ExitCode::World, "`--fix` is for programs with one entry");
  else
    return fixInputs(session, ready.program, ready.entries[0], calling, answer).has_value();
  return false;
}

std::optional<std::vector<std::byte>> bytesOf(Session& session, const CompileOptions& options,
                                              const Look& look, Answer& answer) {
  Input input(options.file);
  if (input.isExecutable()) {
    auto made = openExecutable(session, input, options.entries, look, answer);
    return made ? std::optional(complete(*made, options)) : std::nullopt;
  }
  auto fix = [&](ReadyProgram& ready) { return fixed(session, ready, options, answer); };
  auto ready = loadReady(session, std::move(input), options.entries, look, answer,
                         /*isFollowed=*/false, fix);
  if (!ready)
    return std::nullopt;
  try {
    executable::Executable made = makeExecutable(session, *ready);
    bytecode::requireSound(made.program);
    return complete(made, options);
  } catch (const bytecode::TooLarge& error) {
    answer.fail(ExitCode::Program, fmt::format("{}: the machine has no code for {}",
                                               formats::backquoted(options.file), error.what()));
    return std::nullopt;
  }
}

} // namespace

Answer compile(Session& session, const CompileOptions& options, const Look& look) {
  Answer answer;
  if (std::string problem = outputProblem(options.file, {{"--output", options.output}});
      !problem.empty()) {
    answer.fail(ExitCode::World, problem);
    return answer;
  }
  ShownPasses shown(session, options.view, answer);
  if (!shown.isGood())
    return answer;
  std::optional<std::vector<std::byte>> bytes;
  auto make = [&] { bytes = bytesOf(session, options, look, answer); };
  if (withinLimits(options.limits, session, look, answer, make) && bytes && shown.end()) {
    std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (auto written = formats::writeFile(options.output, text); !written)
      answer.fail(ExitCode::World, written.failure().message);
  }
  return answer;
}

} // namespace driver
