// `baton disasm`: the machine's code of a program.
#include "bytecode/compile.h"
#include "driver/derive.h"
#include "driver/executable_file.h"
#include "formats/quote.h"
#include "vm/disassemble.h"

#include <fmt/format.h>

namespace driver {

Answer disasm(Session& session, const DisasmOptions& options, const Look& look) {
  Answer answer;
  if (isExecutableFile(options.file)) {
    auto made = executable::load(options.file);
    if (made)
      answer.output = vm::disassemble((*made)->program);
    else
      answer.fail(ExitCode::World,
                  fmt::format("cannot read {}: {}", formats::backquoted(options.file),
                              made.failure().message));
    return answer;
  }
  auto ready = loadReady(session, options.file, options.entry, look, answer);
  if (!ready)
    return answer;
  auto compiled = bytecode::compile(*ready->program.module, ready->program.typing,
                                    session.operators(), ready->global());
  answer.output = vm::disassemble(compiled->program);
  return answer;
}

} // namespace driver
