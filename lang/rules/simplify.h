// What the author of an operator writes a simplification with: what is known of the operands of a
// call, and the term that the call becomes.
//
//   /// What is its own inverse.
//   void simplifyInverse(SimplifyCall& s) {
//     if (auto inner = s.madeBy(s.operand(0), s.row().name))
//       s.becomesIfTyped(inner->operands[0]);
//   }
//
// A rule keeps the value for every input, infinities and NaN included: `x * 0` is not zero. What it
// need not keep is the sign of a zero and the bits of a NaN, for `x + 0` would stay otherwise. Each
// answer must be nearer to its end, so that rules come to rest: they are applied to the calls that
// they write as well. The type of an answer is that of the call, to the letter. Where a type has
// `?`, equal types are no sign of equal shapes: `isSameShape` asks for more.
#pragma once

#include "lang/ir/term.h"
#include "lang/op/attributes.h"
#include "lang/op/declared.h"

namespace lang {

/// The code around a call, as far as its rule may look.
struct SimplifyScope {
  /// What a variable is bound to, if it is a value without effects; else null.
  std::function<const Expr*(const Var& var)> valueOf;
  std::function<const Type*(const Expr& atom)> typeOf;
  /// Binds a value that a rule writes, or answers with what it is more simply.
  std::function<Atom(const Expr* value, const Type* type)> bind;
};

/// A call of an operator that gives a term.
struct TermCall {
  const OperatorRow* row;
  const Attributes* attributes;
  std::vector<Term> operands;
};

/// One run of a rule: what it may ask, and where it puts what it answers.
class SimplifyCall : public TermWriter {
public:
  SimplifyCall(BlockBuilder& block, const Call& call, const Type* resultType,
               const SimplifyScope& scope);

  const Type* resultType() const { return resultType_; }
  const OperatorRow& row() const { return *self_.row; }
  const Attributes& attributes() const { return *self_.attributes; }
  Term operand(size_t i) const { return self_.operands[i]; }
  size_t operandCount() const { return self_.operands.size(); }

  /// The tensor that a term is, where it is a constant.
  std::optional<runtime::Tensor> constantOf(const Term& term) const;
  /// The call that gives a term; nothing when it is none, or one of another operator.
  std::optional<TermCall> madeBy(const Term& term) const;
  std::optional<TermCall> madeBy(const Term& term, std::string_view op) const;
  /// The fields of a term that is a tuple, where they are known.
  std::optional<std::vector<Term>> fieldsOf(const Term& term) const;

  /// The call is this term, whose type must be `resultType()`.
  void becomes(const Term& term);
  /// As `becomes`, where the type is that of the result; false, and nothing is done, where it is
  /// another one.
  bool becomesIfTyped(const Term& term);
  /// What the rule answered, or null.
  Atom answer() const { return answer_; }

protected:
  Atom bind(const Expr* value, const Type* type) override { return scope_.bind(value, type); }

private:
  Term termOf(const Operand& operand) const;
  TermCall callOf(const Call& call) const;
  const Expr* valueOf(const Term& term) const;

  const SimplifyScope& scope_;
  const Type* resultType_;
  TermCall self_;
  Atom answer_ = nullptr;
};

/// Whether two tensors have the same shape for all that their types leave open.
bool isSameShape(Dims left, Dims right);

} // namespace lang
