// Functions with a derivative of one's own, and what their rules are asked.
//
// The new code has such a function as the old one had it, with its rule, so what is differentiated
// again meets the rule again, whatever the order:
//
//   let %c = custom_grad(@f, @back);           let %c = custom_grad(@f, @back);
//   %c(%x)                              =>     let %y = %c(%x);
//                                              ... @back(%x, %dy) ...
//
// A rule is linear in cotangents, or in tangents: the mode that it is not written for transposes
// it. A rule knows nothing of what the function captures, so that must not vary.
#pragma once

#include "transform/differentiate/translation.h"

namespace transform {

/// A function that a call gave a rule, in the new code.
struct CustomRule {
  const lang::Call* call;
  const lang::OperatorRow* row;
  /// The function with its rule, and the rule, both as they were.
  lang::Atom function;
  lang::Atom rule;
  /// What the function captures.
  std::vector<const lang::Var*> captured;
  /// The type of the function, and the arguments that the rule has cotangents of.
  const lang::Type* type;
  std::vector<size_t> differentiated;
  /// Whether the rule is given what the function gave.
  bool takesValue;
};

class CustomRules {
public:
  /// Where `isCarrying` is set, nothing at hand is differentiated, and functions carry their
  /// derivatives all the same.
  explicit CustomRules(Translation& code, const bool* isCarrying = nullptr)
      : code_(code), isCarrying_(isCarrying) {}

  void reset() { known_.clear(); }
  /// Writes the function that a call gives a rule, for the variable that it is bound to. What
  /// stands in the way is reported.
  const CustomRule& add(const lang::Var& var, const lang::Call& call, lang::BlockBuilder& out);
  /// What was given a rule and is called; null for anything else.
  const CustomRule* find(const lang::Expr& callee, lang::BlockBuilder& out);
  /// The arguments of a call, as the function takes them.
  std::vector<lang::Atom> arguments(const lang::Call& call, lang::BlockBuilder& out);
  /// Parameters that stand for the arguments of any call.
  std::vector<const lang::Var*> parameters(const CustomRule& rule);
  /// Reports what varies and no rule has a derivative for: what the function captures, and what
  /// functions capture that it is given.
  void checkCaptures(const CustomRule& rule);
  void checkArguments(const CustomRule& rule, const lang::Call& call);
  /// The cotangents of the arguments that are differentiated, from that of the value.
  std::vector<lang::Atom> cotangents(const CustomRule& rule, std::vector<lang::Atom> arguments,
                                     lang::Atom value, lang::Atom incoming,
                                     lang::BlockBuilder& out);

  /// The tangent of the value, from tangents of those arguments.
  lang::Atom tangent(const CustomRule& rule, std::vector<lang::Atom> arguments, lang::Atom value,
                     const std::vector<lang::Atom>& tangents, lang::BlockBuilder& out);

private:
  lang::Atom transposed(const CustomRule& rule, const std::vector<lang::Atom>& arguments,
                        const std::vector<const lang::Type*>& linear, lang::BlockBuilder& out);
  lang::Atom known(const lang::Expr& function, lang::SourceRange range, lang::BlockBuilder& out);
  lang::Atom valueOnly(const lang::Expr& function, lang::BlockBuilder& out);
  void checkCapture(const CustomRule& rule, const lang::Var& captured, lang::SourceRange range);

  Translation& code_;
  const bool* isCarrying_;
  std::unordered_map<const lang::Expr*, CustomRule> known_;
};

} // namespace transform
