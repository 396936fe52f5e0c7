// What evaluating a binding does besides giving a value. This file says what passes may change.
//
// A program's meaning is its value and the order of its writes to references and of what it shows.
// Operators are functions, but for those whose rows say otherwise (lang::Action): a call may be
// dropped, moved or shared. So may tuples, projections, constructors and
// function literals. A fault, such as an index outside or a declared size that a value has not, is
// not a part of the meaning: a program that gives a value must give the same one after a pass, but
// one that ends in a fault may give a value instead, or fault elsewhere. Nor are the sign of a zero
// and the bits of a NaN, so that `x + 0` can be `x`. What counts:
//
// * Writes: `ref_write`. Never dropped, and in order with all others that count.
// * Reads: `ref_read`. Dropped when unused, and otherwise in order.
// * Unknown: a call of a value that may be any function, and of a function that may not end. Such a
//   call may write, read, and run forever; it is never dropped, and stays in order.
//
// Where a program writes into tensors, as TVM's machine does, everything that looks at elements is
// a read.
//
// `ref(...)` makes a cell that nobody else has: it may be dropped and moved within its function,
// and never shared or moved into a function that may be called twice. A branch, a match or a block
// does what is done inside of it; a function literal does nothing until it is called. A global
// does what its body does; one that may call itself may not end.
#pragma once

#include "lang/ir/module.h"
#include "lang/op/declared.h"

#include <unordered_map>

namespace transform {

/// What an evaluation may do; nothing when empty.
struct Effect {
  bool writes = false;
  bool reads = false;
  bool isUnknown = false;
  /// Makes a reference cell.
  bool allocates = false;

  /// Whether it must keep its place among the others.
  bool isOrdered() const { return writes || reads || isUnknown; }
  /// Whether nobody notices when it is left out.
  bool isDroppable() const { return !writes && !isUnknown; }
  Effect& operator|=(const Effect& other);
};

/// What calling an operator does beside what functions do that it calls.
Effect effectOf(lang::Action action);

/// Whether a module writes into tensors, so that looking at their elements is a read.
bool writesTensors(const lang::Module& module);

/// The effects of all bindings of a module.
class Effects {
public:
  explicit Effects(const lang::Module& module);

  /// Of evaluating the value that is bound to `var`, which stands in a block.
  const Effect& of(const lang::Var& var) const { return bindings_[var.number]; }
  /// Of calling a global.
  Effect of(const lang::Global& global) const;

private:
  /// What calling a local function does, once its body was looked at.
  struct Local {
    Effect effect = {};
    bool isKnown = false;
  };

  void addFunction(const lang::Function& function, Effect& result);
  void addLocal(const lang::Binding& binding);
  Effect ofCalling(const lang::Expr& callee) const;
  Effect own(const lang::Expr& value) const;
  Effect ofCall(const lang::Call& call) const;

  bool tensorsChange_;
  /// By Var::number.
  std::vector<Effect> bindings_;
  /// Those whose bodies have been looked at. The others, on the way to them, may call themselves.
  std::unordered_map<const lang::Global*, Effect> globals_;
  std::unordered_map<const lang::Expr*, Local> locals_;
};

} // namespace transform
