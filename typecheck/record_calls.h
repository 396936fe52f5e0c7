// Records as functions. A call of a record is one of the function of its module that is named as
// its type is, with the record in front: `p.hidden(x)` is `linear(p.hidden, x)`.
#pragma once

#include "lang/ir/module.h"

#include <optional>
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
  /// The globals that stand for the defaults of a function's parameters.
  std::span<const lang::Global* const> defaultsOf(const lang::Global& function) const;
  /// The one of a parameter; null where it has none.
  const lang::Global* defaultOf(const lang::Global& function, size_t parameter) const;
  /// The defaults that stand in for what is left out of calls around what is being inferred.
  std::vector<const lang::Global*> open;
  bool isDefault(const lang::Global& global) const { return isDefault_.contains(&global); }
  /// Those that a call may mean of what `value` gave its callee, by the name of a field, or by what
  /// a parameter declares.
  std::vector<const lang::Global*> candidates(const lang::Var& callee,
                                              const lang::Expr* value) const;

  /// The call that the call of a record stands for, with the record in front, and the blocks that
  /// give those of its arguments which are left out; null for others.
  struct Meant {
    const lang::Call* call = nullptr;
    std::vector<const lang::Block*> defaults = {};
  };
  void set(const lang::Call& call, Meant meant) { meant_[&call] = std::move(meant); }
  /// What it stands for; null for any other call.
  const Meant* meantBy(const lang::Call& call) const {
    auto found = meant_.find(&call);
    return found == meant_.end() ? nullptr : &found->second;
  }

private:
  std::unordered_map<const lang::TypeDefinition*, const lang::Global*> functions_;
  std::unordered_set<const lang::Global*> called_;
  std::unordered_map<std::string_view, std::vector<const lang::Global*>> byField_;
  std::unordered_map<const lang::Call*, Meant> meant_;
  std::unordered_map<const lang::Global*, std::vector<const lang::Global*>> defaults_;
  std::unordered_set<const lang::Global*> isDefault_;
};

/// The arguments of the function that a call of a record means, in the order of its parameters, the
/// record first; null for those that are left out. Nothing after a report.
std::optional<std::vector<lang::Operand>> placeArguments(const lang::Call& call,
                                                         const lang::Global& function,
                                                         lang::Diagnostics& diagnostics);
/// Reports names of arguments of a call of a value that is no record.
void reportNames(const lang::Call& call, lang::Diagnostics& diagnostics);

} // namespace typecheck
