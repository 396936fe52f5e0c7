// Records as functions. A call of a record is one of the function of its module that is named as
// its type is, with the record in front: `p.hidden(x)` is `linear(p.hidden, x)`.
#pragma once

#include "lang/ir/module.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace typecheck {

class RecordCalls {
public:
  /// Knows the functions that a module has before it gets instances.
  explicit RecordCalls(const lang::Module& module);

  /// Whether calls of records mean anything.
  bool isAny() const { return !functions_.empty(); }
  /// The function that a call of a value of this type means; null where it means none.
  const lang::Global* find(const lang::Type& type) const;
  /// Whether a call of some record means it.
  bool isFunctionOfRecord(const lang::Global& global) const { return called_.contains(&global); }
  /// Those that a call may mean of what `value` gave its callee, by the name of a field, or by what
  /// a parameter declares.
  std::vector<const lang::Global*> candidates(const lang::Var& callee,
                                              const lang::Expr* value) const;

  /// Remembers the call that the call of a record stands for.
  void set(const lang::Call& call, const lang::Call& meant) { meant_[&call] = &meant; }
  /// What it stands for; null for any other call.
  const lang::Call* meantBy(const lang::Call& call) const {
    auto found = meant_.find(&call);
    return found == meant_.end() ? nullptr : found->second;
  }

private:
  std::unordered_map<const lang::TypeDefinition*, const lang::Global*> functions_;
  std::unordered_set<const lang::Global*> called_;
  std::unordered_map<std::string_view, std::vector<const lang::Global*>> byField_;
  std::unordered_map<const lang::Call*, const lang::Call*> meant_;
};

} // namespace typecheck
