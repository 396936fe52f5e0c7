// `baton disasm`: the machine's code of a program, or all that an executable of it has; `baton
// instructions`: what code is made of.
#include "driver/executable_file.h"
#include "runtime/formats/quote.h"
#include "vm/assembly/reference.h"
#include "vm/assembly/text.h"
#include "vm/bytecode/compile.h"

#include <fmt/format.h>

namespace driver {

namespace {

/// The executable at a path, or of the program there.
std::unique_ptr<executable::Executable> executableOf(Session& session, const DisasmOptions& options,
                                                     const Look& look, Answer& answer) {
  Input input(options.file);
  if (input.isExecutable())
    return openExecutable(session, input, options.entries, look, answer);
  auto ready = loadReady(session, std::move(input), options.entries, look, answer);
  if (!ready)
    return nullptr;
  try {
    return std::make_unique<executable::Executable>(makeExecutable(session, *ready));
  } catch (const bytecode::TooLarge& error) {
    answer.fail(ExitCode::Program, fmt::format("{}: the machine has no code for {}",
                                               formats::backquoted(options.file), error.what()));
    return nullptr;
  }
}

} // namespace

Answer disasm(Session& session, const DisasmOptions& options, const Look& look) {
  Answer answer;
  if (auto made = executableOf(session, options, look, answer))
    answer.output = options.isFull ? assembly::text(*made) : assembly::disassemble(made->program);
  return answer;
}

Answer instructions() {
  Answer answer;
  answer.output = assembly::instructionReference();
  return answer;
}

} // namespace driver
