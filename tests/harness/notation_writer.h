// The state of writing in Baton's notation: notation.cpp writes definitions and what is beside
// them, notation_blocks.cpp blocks, notation_matches.cpp branches and matches, notation_calls.cpp
// calls, notation_operators.cpp operators, notation_expr.cpp the rest.
#pragma once

#include "lang/op/op.h"
#include "tests/harness/notation.h"
#include "tests/harness/notation_attributes.h"
#include "tests/harness/notation_patterns.h"
#include "tests/harness/shared_lines.h"

#include <map>
#include <optional>
#include <set>

namespace harness {

/// Writes the definitions of one of the texts.
class NotationWriter {
public:
  NotationWriter(const Program& program, Spelling& spelling, const NotationPlan& plan,
                 bool isImported)
      : program_(program), spelling_(spelling), plan_(plan),
        types_(program, spelling, plan, isImported), patterns_(program, spelling, plan, types_),
        attributes_(spelling, plan) {}

  std::string definition(const Definition& definition);
  NotationTypes& types() { return types_; }
  /// The constants and definitions that what was written so far needs beside those of the program.
  std::string beside() const;

private:
  using Type = lang::Type;

  // Expressions.
  std::string expr(NodeId id);
  std::string plain(NodeId id);
  std::string atom(NodeId id);
  std::string literal(const Node& node, NodeId id);
  std::string tuple(const Node& node);
  std::string function(const Node& node, NodeId id);
  std::string parameters(const Node& node, NodeId id, const std::string& definition);
  std::optional<std::string> takingFunction(const Node& node, NodeId id);
  std::string body(NodeId id);

  // Blocks.
  std::string braced(NodeId id);
  std::string lines(NodeId id);
  std::string sharedLines(NodeId id, size_t item);
  std::string item(const Node& block, NodeId id, size_t i);
  bool isShared(NodeId id) const { return shared_.contains(id); }

  // Branches and matches.
  std::string branch(const Node& node, NodeId id);
  std::optional<std::string> logic(const Node& node, NodeId id);
  std::optional<std::string> matchedNumber(const Node& node, NodeId id);
  std::optional<std::string> matchedCondition(const Node& node, NodeId id);
  std::string match(const Node& node, NodeId id);
  std::optional<std::string> takingLet(const Node& node, NodeId id);
  std::string arm(const std::string& pattern, NodeId body);

  // Calls.
  std::vector<Argument> arguments(const Node& node, size_t first);
  std::string call(const Node& node, NodeId id);
  std::string ownCall(const Node& node, NodeId id);
  std::optional<std::string> recordCall(const Node& node, NodeId id);
  std::string construction(const Node& node, NodeId id);
  std::optional<std::string> list(const Node& node, NodeId id);
  std::string applied(const std::string& callee, std::vector<Argument> arguments, NodeId id);
  void nameArguments(std::vector<Argument>& arguments, size_t least, NodeId id);

  // Forms that Relay's text has not.
  std::string ownForm(const Node& node, NodeId id);
  std::string extent(const Node& node, NodeId id);
  std::string computedShape(const Node& node, NodeId id);
  std::string wantedShape(const Node& node, NodeId id);

  // Operators.
  std::string operatorCall(const Node& node, NodeId id);
  std::optional<std::string> operatorForm(const Node& node, NodeId id,
                                          const lang::OperatorRow& row);
  std::string operand(const Node& node, size_t i, const lang::OperatorRow& row);
  std::string infixOperand(const Node& node, size_t i);

  const Program& program_;
  Spelling& spelling_;
  const NotationPlan& plan_;
  NotationTypes types_;
  NotationPatterns patterns_;
  NotationAttributes attributes_;
  // Of the definition that is being written.
  const Node* function_ = nullptr;
  SharedLines shared_ = {};
  size_t depth_ = 0;
  /// Where what is computed has to be known, which a branch hides.
  bool isInShape_ = false;
  std::map<std::string, std::string> constants_ = {}, helpers_ = {};
};

/// `[A, B]`, or nothing.
std::string genericsText(const Node& node);

/// Whether the expression is written without computing anything.
bool isAtom(const Node& node);

} // namespace harness
