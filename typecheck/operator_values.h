// Operators as values. In Baton's notation an operator's name where a value is wanted is the
// function that calls it, `map(sqrt, xs)` is `map(fn (x) = sqrt(x), xs)`.
#pragma once

#include "lang/ir/module.h"
#include "lang/op/op.h"

#include <unordered_map>

namespace typecheck {

class OperatorValues {
public:
  /// `module` is the one that is checked.
  OperatorValues(lang::Module& module, const lang::OperatorTable& operators)
      : module_(module), operators_(operators) {}

  /// Whether an operator as a value is a function of so many operands, wherever it stands.
  bool isOfOneCount(const lang::OperatorRow& row) const;
  /// What an operator's name means as a function of `count` operands, as `max` of two is another
  /// one; it is itself where nothing else is said.
  const lang::OperatorRow& ofCount(const lang::OperatorRow& row, size_t count) const;

  /// The function that calls an operator, which a mention at `range` stands for: an operand, or a
  /// binding whose value it is.
  const lang::Function& make(const void* mention, const lang::OperatorRow& row, size_t count,
                             lang::SourceRange range);
  /// The function that a parameter is of; null for any other variable.
  const lang::Function* withParameter(const lang::Var& parameter) const;
  /// The function for a mention; null for anything else.
  const lang::Function* usedBy(const void* mention) const;

private:
  lang::Module& module_;
  const lang::OperatorTable& operators_;
  std::unordered_map<const void*, const lang::Function*> made_;
  std::unordered_map<const lang::Var*, const lang::Function*> byParameter_;
};

/// Reports of the function that an operator stands for that nothing tells what it takes.
void reportOpenValue(lang::Diagnostics& diagnostics, const lang::Function& value);

} // namespace typecheck
