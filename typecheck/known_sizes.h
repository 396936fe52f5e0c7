// Which sizes numbers are.
//
// In Baton's notation a size is a number like others, `zeros([b, d / 2])`. What a value is as a
// size is read off the code that gave it: literals, names of sizes, extents, arithmetic on these,
// and lists of them. It is no part of types, as numbers that agree in type may be different sizes.
#pragma once

#include "lang/ir/expr.h"
#include "lang/op/op.h"
#include "typecheck/unify.h"

#include <optional>
#include <unordered_map>

namespace typecheck {

/// By Var::number: its type, and the value that a binding gave it.
struct VarTables {
  std::vector<const Type*> types;
  std::vector<const lang::Expr*> values;
};

class KnownSizes {
public:
  KnownSizes(Unifier& unifier, const lang::OperatorTable& operators, const VarTables& vars);

  /// Remembers what a call of a size stands for, in the names of its definition.
  void set(const lang::Call& call, const Dim* size) { named_[&call] = size; }
  /// What such a call stands for.
  const Dim* of(const lang::Call& call) const { return named_.at(&call); }

  /// Remembers what a parameter is known to be, a size or a list of them.
  void set(const lang::Var& parameter, std::span<const Dim* const> sizes) {
    parameters_[&parameter].assign(sizes.begin(), sizes.end());
  }

  /// Remembers the attributes of a call that gives one of them by an argument.
  void setAttributes(const lang::Call& call, const lang::Attributes* attributes) {
    attributes_[&call] = attributes;
  }
  /// What was remembered, or null.
  const lang::Attributes* attributesOf(const lang::Call& call) const {
    auto found = attributes_.find(&call);
    return found == attributes_.end() ? nullptr : found->second;
  }

  /// The size that a number is; null where it is none that is known. Of an integer that may be any
  /// one it is a foreign form (Dim::hasForeign), which types must not have.
  const Dim* sizeOf(const lang::Expr& atom);
  /// The sizes that a number or a list of numbers is, `?` for those that are not known; nothing
  /// where not even their count is.
  std::optional<std::vector<const Dim*>> sizesOf(const lang::Expr& atom);

private:
  const Dim* sizeOf(const lang::Expr& atom, int depth);
  const Dim* ofNumber(const lang::Var& var);
  const Dim* ofConstant(const lang::Constant& constant);
  const Dim* ofCall(const lang::Call& call, int depth);
  const Dim* ofExtent(const lang::Call& call);
  bool isEmptyList(const lang::Expr& atom) const;
  std::optional<std::vector<const Dim*>> shapeOf(const lang::Expr& atom) const;
  const lang::Expr* valueOf(const lang::Expr& atom) const;

  Unifier& unifier_;
  const VarTables& vars_;
  /// The operators that sizes are computed by.
  struct Arithmetic {
    const lang::OperatorRow *add, *subtract, *multiply;
  };
  Arithmetic arithmetic_;
  std::unordered_map<const lang::Call*, const Dim*> named_;
  std::unordered_map<const lang::Call*, const lang::Attributes*> attributes_;
  std::unordered_map<const lang::Var*, std::vector<const Dim*>> parameters_;
  /// Of the current question.
  int steps_ = 0;
};

} // namespace typecheck
