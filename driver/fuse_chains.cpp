// The pass alone, without declared types and the checks between passes: where the program as it was
// written leaves a type to what the fusion took away, the program stays as it is.
#include "driver/fuse_chains.h"

#include "transform/deforest.h"
#include "transform/passes.h"
#include "typecheck/check.h"

namespace driver {

void fuseChains(Session& session, Program& program) {
  if (!transform::hasChains(*program.module, program.typing))
    return;
  lang::Diagnostics findings;
  transform::TypeCheck check = [&](const lang::Module& module, lang::Diagnostics& diagnostics) {
    return typecheck::checkModule(module, session.operators(), diagnostics);
  };
  auto made =
      transform::deforest(*program.module, {session.operators(), program.typing, check, findings});
  if (made->globals.size() == program.module->globals.size())
    return;
  lang::Typing typing = check(*made, findings);
  if (findings.hasErrors())
    return;
  program.module = std::move(made);
  program.typing = std::move(typing);
}

} // namespace driver
