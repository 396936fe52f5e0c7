// Forward mode: tangents run beside values.
//
// Each variable has a tangent of the type of its cotangent, or none, which is zero. A function
// takes the tangents of its arguments behind them and gives its value with the tangent of it; a
// branch gives both. The rules of operators are transposed (transpose.h), so there is nothing to
// write down twice. As adjoint.h, it adds to one module, which is free of type parameters.
#pragma once

#include "transform/differentiate/adjoint.h"

namespace transform {

class PushForward {
public:
  PushForward(lang::Builder& make, const lang::Typing& typing, lang::Diagnostics& findings);

  /// A function of the same parameters and their tangents, which gives the value and its tangent.
  const lang::Function* derivative(const lang::Expr& known, const WithRespectTo& wrt);
  /// A function of the same parameters and results as a global, in which functions take and give
  /// tangents (push_forward_carried.cpp), as the adjoint has it of reverse mode.
  const lang::Function* carried(const lang::Global& global);
  void carryFor(std::unordered_set<const lang::Call*> derivatives);
  /// Lets derivatives compute all that the functions do, in its order.
  void keepSteps() { code_.keepsSteps = true; }
  /// Writes the derivatives of globals that were called for.
  void finish();

private:
  /// A branch in the making.
  struct Branch {
    lang::BlockBuilder out;
    lang::Atom value = nullptr;
    Cotangent tangent = {};
  };

  void reset();
  lang::Atom write(const lang::Block& block, lang::BlockBuilder& out);
  void write(const lang::Binding& binding, lang::BlockBuilder& out);
  void writeCall(const lang::Binding& binding, const lang::Call& call, lang::BlockBuilder& out);
  const lang::Expr* callOfBoth(const lang::Expr& callee, std::span<const lang::Operand> given,
                               lang::BlockBuilder& out);
  void writeOperator(const lang::Binding& binding, const lang::Call& call,
                     const lang::OperatorRow& row, lang::BlockBuilder& out);
  void writeCustom(const lang::Binding& binding, const lang::Call& call, lang::BlockBuilder& out);
  void writeRuled(const lang::Binding& binding, const lang::Call& call, const CustomRule& rule,
                  lang::BlockBuilder& out);
  void writeConstructor(const lang::Binding& binding, const lang::Call& call,
                        lang::BlockBuilder& out);
  void writeIf(const lang::Binding& binding, const lang::If& branch, lang::BlockBuilder& out);
  void writeMatch(const lang::Binding& binding, const lang::Match& match, lang::BlockBuilder& out);
  void writeFunction(const lang::Binding& binding, const lang::Function& function,
                     lang::BlockBuilder& out);
  void writeReference(const lang::Binding& binding, lang::BlockBuilder& out);

  // Where functions carry their derivatives.
  const lang::Block* carriedBody(const lang::Function& function, lang::BlockBuilder& body);
  void writeCarried(const PendingDerivatives::Item& pending);
  void writeDerivative(const lang::Binding& binding, const lang::Call& call,
                       lang::BlockBuilder& out);

  /// Binds a value that comes with its tangent where it has one.
  void bindBoth(const lang::Binding& binding, const lang::Expr* both, bool hasTangent,
                lang::BlockBuilder& out);
  std::vector<const lang::Block*> joined(std::deque<Branch>& branches, const lang::Type* type,
                                         bool& hasTangent);
  void takeApart(const lang::Pattern& pattern, const lang::Type* type, const Cotangent& tangent,
                 lang::BlockBuilder& out);
  const lang::Pattern*
  tangentPattern(const lang::Pattern& pattern, const lang::Type* type,
                 std::vector<std::pair<const lang::Var*, const lang::Var*>>& vars);

  Cotangent tangent(const lang::Expr& atom) const;
  lang::Atom wholeTangent(const lang::Expr& atom, lang::BlockBuilder& out);
  bool isIdle(const lang::Function& function) const;
  const lang::Function* functionOf(const lang::Function& function, const std::vector<bool>& mask,
                                   const lang::Type* result, bool isIdle);

  Translation code_;
  /// Derivatives; globals with functions that carry theirs, as they are called, and as values that
  /// nobody differentiates.
  PendingDerivatives pending_, carried_, idle_;
  std::optional<FunctionFlow> flow_;
  /// Whether nothing here is differentiated, and functions carry their derivatives for others.
  bool isCarrying_ = false;
  CustomRules custom_;
  /// Of the function at hand, by variables of the old code.
  std::unordered_map<const lang::Var*, Cotangent> tangents_;
};

} // namespace transform
