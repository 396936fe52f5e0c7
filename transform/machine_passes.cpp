// The passes alone, without declared types and the checks between passes: where the program as it
// was written leaves a type to what a pass took away, the program stays as it is.
#include "transform/machine_passes.h"

#include "transform/deforest.h"
#include "transform/flatten_tuples.h"
#include "transform/inlining.h"

namespace transform {

using namespace lang;

namespace {

/// A program on its way; `made` is what passes made of it, if any did.
struct Way {
  const Module& from;
  const Typing& fromTyping;
  const MachinePassOptions& options;
  TypedModule made = {};

  const Module& module() const { return made.module ? *made.module : from; }
  const Typing& typing() const { return made.module ? made.typing : fromTyping; }

  /// Goes on with what a pass makes of the program, if it is well-typed as it stands.
  void run(Pass pass) {
    Diagnostics findings;
    auto next = pass(
        module(), {options.operators, typing(), options.check, findings, nullptr, options.entries});
    if (!next)
      return;
    Typing found = options.check(*next, findings);
    if (!findings.hasErrors())
      made = {std::move(next), std::move(found)};
  }
};

/// Null where nothing was fused, which adds functions.
std::unique_ptr<Module> fuseChains(const Module& module, const PassContext& context) {
  auto made = deforest(module, context);
  return made->globals.size() > module.globals.size() ? std::move(made) : nullptr;
}

} // namespace

TypedModule forMachine(const Module& module, const Typing& typing,
                       const MachinePassOptions& options) {
  Way way{module, typing, options};
  if (hasChains(module, typing))
    way.run(fuseChains);
  if (!options.keepsCalls)
    way.run(withQuietInlined);
  // Fields may be tuples themselves.
  constexpr size_t deepest = 4;
  for (size_t i = 0; i < deepest && takesTuplesApart(way.module(), way.typing(), options.entries);
       ++i)
    way.run(flattenTuples);
  return std::move(way.made);
}

} // namespace transform
