// `baton compile`: an executable of a program, or of the text of one.
#include "vm/bytecode/compile.h"
#include "driver/executable_file.h"
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

std::optional<std::vector<std::byte>> bytesOf(Session& session, const CompileOptions& options,
                                              const Look& look, Answer& answer) {
  Input input(options.file);
  if (input.isExecutable()) {
    auto made = openExecutable(session, input, options.entries, look, answer);
    return made ? std::optional(complete(*made, options)) : std::nullopt;
  }
  auto ready = loadReady(session, std::move(input), options.entries, look, answer);
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
