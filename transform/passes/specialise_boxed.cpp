// Copies of generic definitions for each way that they are called, where the machine would box
// numbers without and not with them.
//
// Boxes make a program slow. They are needed where a generic function is a value, whose type
// parameters a call has to tell; in all other programs nothing is copied, as the machine compiles a
// generic function once for each way in which its type parameters are represented. Each call of the
// text stays a call that people may count, so local functions stay as they are.
#include "lang/ir/walk.h"
#include "transform/analysis/type_parts.h"
#include "transform/passes.h"
#include "transform/passes/specialise.h"

#include <algorithm>

namespace transform {

using namespace lang;

namespace {

bool needsBoxes(const Module& module, const Typing& typing, const PassContext& context) {
  return context.needsBoxes(module, typing, context.operators, entriesOf(module, context.entries));
}

} // namespace

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
          has |= (!call || &operand != &call->callee) && isGeneric(*operand.value);
        });
      },
      [](const Operand&) {});
  return has;
}

std::unique_ptr<Module> specialiseBoxed(const Module& module, const PassContext& context) {
  auto isSettledGlobal = [&](const Global* global) {
    return !global->function || isSettled(*global->function, context.typing);
  };
  if (!context.needsBoxes || !hasGenericValues(module, context.typing) ||
      !std::ranges::all_of(module.globals, isSettledGlobal) ||
      !needsBoxes(module, context.typing, context))
    return nullptr;
  auto made = specialiseGlobals(module, context);
  if (!made)
    return nullptr;
  Diagnostics findings;
  const Typing typing = context.check(*made, findings);
  // What is ill-typed is told of by who runs the pass.
  return findings.hasErrors() || !needsBoxes(*made, typing, context) ? std::move(made) : nullptr;
}

} // namespace transform
