// A question of the checker that waits for types.
#pragma once

#include "lang/ir/expr.h"
#include "lang/op/op.h"
#include "typecheck/open_numbers.h"
#include "typecheck/unify.h"

namespace typecheck {

/// An operator call, a projection, or a use of an open definition, whose result type is open.
struct PendingRelation {
  const lang::OperatorRow* row = nullptr;
  /// The definition that the call is in.
  const lang::Global* definition = nullptr;
  const lang::Attributes* attributes = nullptr;
  lang::Types operands;
  std::span<const lang::Operand> places;
  const Type* result = nullptr;
  lang::SourceRange range;
  /// For a projection: the field, by its place or its name; `row` is null then.
  uint32_t field = 0;
  std::string_view fieldName = {};
  const lang::FieldHint* hint = nullptr;
  /// How many fields there have to be, where that is said.
  uint32_t fieldCount = 0;
  /// For a record with other fields, which is the first operand: their names.
  const lang::Constructor* change = nullptr;
  /// The open definition that is used, and the operand or binding that mentions it.
  const lang::Global* open = nullptr;
  const void* mention = nullptr;
  /// The operator that is used as a value, which `mention` says.
  const lang::OperatorRow* asValue = nullptr;
  /// The generic scope that a use, a call or an operator as a value is in.
  size_t scope = 0;
  /// What the names of sizes in its text are at this use.
  std::span<const std::pair<const Dim*, const Dim*>> names = {};
  /// Whether the result is an open number, of the shape that the relation tells, and which kind.
  OpenClass opens = OpenClass::None;
  /// Whether operands are sizes by which its shape is computed.
  bool isComputed = false;
  /// Whether its positions stand in brackets.
  bool isInBrackets = false;
  /// Whether it makes a count of its operand.
  bool counts = false;
  /// A call of what may be a record or a function.
  const lang::Call* call = nullptr;
  /// The call whose last arguments give attributes, until these are known.
  const lang::Call* attributed = nullptr;
  bool isDone = false;

  /// What the text calls the operator.
  std::string_view calledAs() const {
    return isComputed && !row->fixed.name.empty() ? row->fixed.name : row->name;
  }
};

} // namespace typecheck
