// The passes alone, without declared types and the checks between passes: where the program as it
// was written leaves a type to what a pass took away, the program stays as it is.
#include "transform/machine_passes.h"

#include "lang/walk.h"
#include "transform/deforest.h"
#include "transform/flatten_tuples.h"
#include "transform/inlining.h"
#include "transform/specialise.h"
#include "transform/type_parts.h"

#include <algorithm>

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

/// Whether a generic function may be a value, whose type parameters a call has to tell.
bool hasGenericValues(const Module& module, const Typing& typing) {
  bool has = false;
  auto isGeneric = [&](const Expr& atom) {
    const auto* global = atom.as<Global>();
    const auto* constructor = atom.as<Constructor>();
    return (global && global->function && !typing.generics(*global->function).empty()) ||
           (constructor && !constructor->definition->generics.empty());
  };
  walk(
      module,
      [&](const Binding& binding) {
        const auto* function = binding.value->as<Function>();
        has |= function && !typing.generics(*function).empty();
        has |= isGeneric(*binding.value);
        const auto* call = binding.value->as<Call>();
        forEachOperand(*binding.value, [&](const Operand& operand) {
          has |= (!call || operand.value != call->callee.value) && isGeneric(*operand.value);
        });
      },
      [](const Operand&) {});
  return has;
}

} // namespace

TypedModule forMachine(const Module& module, const Typing& typing,
                       const MachinePassOptions& options) {
  Way way{module, typing, options};
  auto isSettledGlobal = [&](const Global* global) {
    return !global->function || isSettled(*global->function, typing);
  };
  if (options.needsBoxes && hasGenericValues(module, typing) &&
      std::ranges::all_of(module.globals, isSettledGlobal) && options.needsBoxes(module, typing)) {
    way.run(specialiseGlobals);
    if (way.made.module && options.needsBoxes(way.module(), way.typing()))
      way.made = {};
  }
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
