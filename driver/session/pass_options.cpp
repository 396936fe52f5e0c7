// What passes ask of folders that they do not know.
#include "driver/session/pass_options.h"

#include "interp/reference.h"
#include "stdlib/logarithms.h"
#include "stdlib/panels.h"
#include "stdlib/rows_at_once.h"
#include "typecheck/check.h"
#include "vm/bytecode/compile.h"

#include <stdexcept>

namespace driver {

transform::RunOptions passOptions(const Session& session, transform::Entries entries,
                                  lang::Diagnostics& findings) {
  static const tensor::TensorEngine engine = interp::referenceEngine();
  auto check = [&session](const lang::Module& module, lang::Diagnostics& diagnostics) {
    return typecheck::checkModule(module, session.operators(), diagnostics);
  };
  return {.operators = session.operators(),
          .check = check,
          .verify = session.passWatcher().verify,
          .skipped = session.passWatcher().skipped,
          .after = session.passWatcher().after,
          .within = session.passWatcher().within,
          .findings = &findings,
          .engine = &engine,
          .entries = entries,
          .keepLogarithms = stdlib::withLogarithmsKept,
          .readPanels = stdlib::weightsFromPanels,
          .rowsAtOnce = {stdlib::joinedRows, stdlib::splitRows},
          .needsBoxes = bytecode::needsBoxes};
}

void goOn(Program& program, runtime::Checked<transform::TypedModule> made) {
  if (!made)
    throw std::logic_error(made.failure().text);
  if (!made->module)
    return;
  program.module = std::move(made->module);
  program.typing = std::move(made->typing);
}

} // namespace driver
