// What a rewriter writes into the code that it copies from, where it then stands as if it had been
// written there.
#pragma once

#include "lang/ir/module.h"

#include <vector>

namespace transform {

class OldCode {
public:
  /// New variables get numbers that those of the module do not have.
  explicit OldCode(const lang::Module& from) : varCount_(from.varCount) {}

  const lang::Var* variable(std::string_view name, lang::VarOrigin origin, lang::SourceRange range,
                            const lang::Type* annotation = nullptr) {
    return arena.make<lang::Var>(lang::Expr{lang::ExprKind::Var, range}, arena.copyText(name),
                                 origin, varCount_++, annotation);
  }

  /// The bindings of a block with the values that `valueOf(binding, before)` gives, each behind
  /// what that appended to `before`.
  template <typename ValueOf>
  std::span<const lang::Binding> bindings(const lang::Block& block, ValueOf&& valueOf) {
    std::vector<lang::Binding> list;
    for (const lang::Binding& binding : block.bindings) {
      const lang::Expr* value = valueOf(binding, list);
      list.push_back({binding.var, value, binding.place});
    }
    return arena.copy(list);
  }

  lang::Arena arena;

private:
  uint32_t varCount_;
};

} // namespace transform
