// Zeros of recursive data types as a constructor of their own.
//
// The cotangent of a list that is zero behind its head would be as long as the list, and adding up
// one for each step of a recursion takes quadratic time. So where zeros of a recursive data type
// are asked for, its cotangents are of a data type with one constructor more:
//
//   type List[A] { Cons(A, List[A]), Nil }
// =>
//   type ListCotangent1[A] { ConsCotangent1(A, ListCotangent1[A]), NilCotangent1, ZeroList1 }
//
// What a derivative asks for is known once it is written, so then it is written again. Derivatives
// that never ask, such as those of maps and folds, keep the types of their values.
#pragma once

#include "lang/ir/module.h"

#include <functional>
#include <unordered_set>

namespace transform {

class SymbolicZeros {
public:
  bool has(const lang::TypeDefinition& definition) const { return known_.contains(&definition); }
  bool isEmpty() const { return known_.empty(); }
  /// Says that a zero of a data type was asked for that has none.
  void want(const lang::TypeDefinition& definition) { wanted_.insert(&definition); }

  /// Calls `write`, which adds to the module, and as often again, without what it added, as zeros
  /// were wanted; false as soon as it answers false.
  bool writeInto(lang::Module& module, const std::function<bool()>& write);

private:
  std::unordered_set<const lang::TypeDefinition*> known_, wanted_;
};

/// Whether values of a data type may be parts of each other.
bool isRecursive(const lang::TypeDefinition& definition);
/// Whether the fields of a data type hold one of others, whatever its arguments are.
bool holdsAny(const lang::TypeDefinition& definition, const SymbolicZeros& others);

} // namespace transform
