// The passes alone, without declared types and the checks between passes: where the program as it
// was written leaves a type to what a pass took away, the program stays as it is.
#include "driver/machine_passes.h"

#include "transform/deforest.h"
#include "transform/flatten_tuples.h"
#include "transform/inlining.h"
#include "transform/passes.h"
#include "typecheck/check.h"

namespace driver {

namespace {

/// Puts the module that a pass made in the program's place, if it is well-typed as it stands.
void run(transform::Pass pass, Session& session, Program& program, transform::Entries entries) {
  lang::Diagnostics findings;
  transform::TypeCheck check = [&](const lang::Module& module, lang::Diagnostics& diagnostics) {
    return typecheck::checkModule(module, session.operators(), diagnostics);
  };
  auto made = pass(*program.module,
                   {session.operators(), program.typing, check, findings, nullptr, entries});
  if (!made)
    return;
  lang::Typing typing = check(*made, findings);
  if (findings.hasErrors())
    return;
  program.module = std::move(made);
  program.typing = std::move(typing);
}

/// Null where nothing was fused, which adds functions.
std::unique_ptr<lang::Module> fuseChains(const lang::Module& module,
                                         const transform::PassContext& context) {
  auto made = transform::deforest(module, context);
  return made->globals.size() > module.globals.size() ? std::move(made) : nullptr;
}

} // namespace

void runMachinePasses(Session& session, Program& program, transform::Entries entries,
                      bool keepsCalls) {
  if (transform::hasChains(*program.module, program.typing))
    run(fuseChains, session, program, entries);
  if (!keepsCalls)
    run(transform::withQuietInlined, session, program, entries);
  // Fields may be tuples themselves.
  constexpr size_t deepest = 4;
  for (size_t i = 0;
       i < deepest && transform::takesTuplesApart(*program.module, program.typing, entries); ++i)
    run(transform::flattenTuples, session, program, entries);
}

} // namespace driver
