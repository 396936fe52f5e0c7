// Definitions that no call from the entry can reach, which is `@main` unless another one is asked
// for, are left out. A module without it is a library, and all of it stays.
//
//   def @helper() { 1f }            def @main() { 2f }
//   def @main() { 2f }       =>
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "transform/passes.h"

#include <algorithm>
#include <unordered_set>

namespace transform {

using namespace lang;

namespace {

class Keeper : public Rewriter {
public:
  Keeper(const Module& from, Builder& into, Entries names)
      : Rewriter(from, into), entries_(entriesOf(from, names)) {
    std::vector<const Global*> open;
    auto reach = [&](const Global* global) {
      if (global->function && reached_.insert(global).second)
        open.push_back(global);
    };
    std::ranges::for_each(entries_, reach);
    while (!open.empty()) {
      const Global* global = open.back();
      open.pop_back();
      auto look = [&](const Expr& atom) {
        if (const auto* mentioned = atom.as<Global>())
          reach(mentioned);
      };
      walk(
          *global->function->body,
          [&](const Binding& binding) { forEachAttributeAtom(*binding.value, look); },
          [&](const Operand& operand) { look(*operand.value); });
    }
  }

  bool keeps(const Global& global) override {
    return entries_.empty() || reached_.contains(&global);
  }

private:
  std::vector<const Global*> entries_;
  std::unordered_set<const Global*> reached_;
};

} // namespace

std::unique_ptr<Module> unusedDefinitions(const Module& module, const PassContext& context) {
  auto kept = std::make_unique<Module>(module.types);
  Builder make(*kept, context.operators);
  Keeper keeper(module, make, context.entries);
  if (std::ranges::all_of(module.globals,
                          [&](const Global* global) { return keeper.keeps(*global); }))
    return nullptr;
  keeper.module();
  return kept;
}

} // namespace transform
