// `baton disasm`: the machine's code of a program.
#include "bytecode/compile.h"
#include "driver/derive.h"
#include "driver/executable_file.h"
#include "driver/find_global.h"
#include "driver/load.h"
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
  auto program = loadGood(session, options.file, look, answer);
  if (!program)
    return answer;
  const lang::Global* entry = findGlobal(*program->module, options.entry, "--entry", answer);
  if (!entry)
    return answer;
  const std::string name(entry->name);
  if (!writeOutDerivatives(session, *program, *entry, {.file = options.file}, look, answer))
    return answer;
  auto compiled = bytecode::compile(*program->module, program->typing, session.operators(),
                                    *program->module->find(name));
  answer.output = vm::disassemble(compiled->program);
  return answer;
}

} // namespace driver
