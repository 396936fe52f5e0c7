// The names of operators, and attributes as arguments.
#pragma once

#include "lang/op/op.h"
#include "tests/harness/notation_plan.h"

#include <optional>

namespace harness {

/// An argument of a call.
struct Argument {
  std::string text;
  /// Whether nothing is computed for it.
  bool isAtom = false;
  std::string name = {};
  bool isNamed = false;
  /// Whether it may not be apart from its call: a tuple in brackets, which only the place of an
  /// operand makes one, or a computed shape, which has a line of its own.
  bool isBound = false;
};

class NotationAttributes {
public:
  NotationAttributes(Spelling& spelling, const NotationPlan& plan)
      : spelling_(spelling), plan_(plan) {}

  std::string operatorName(const lang::OperatorRow& row, NodeId id);
  /// The attributes of a call in the order of the row, as many by position as are to be.
  std::vector<Argument> of(const Node& node, NodeId id, const lang::OperatorRow& row);

private:
  std::string value(const lang::AttributeRow& row, const std::string& text, NodeId id);

  Spelling& spelling_;
  const NotationPlan& plan_;
};

/// The row of a call or a mention.
const lang::OperatorRow& operatorOf(const Node& node);

} // namespace harness
