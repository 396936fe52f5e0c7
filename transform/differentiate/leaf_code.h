// The code of a function of scalars, put in place for tensors: operators broadcast, so the same
// calls, with other types, do for every element what they did for one float. Where a leaf has
// another float type than the function was written for, that takes its place wherever the code says
// the function's: in constants, in what is captured, and in attributes.
#pragma once

#include "lang/ir/builder.h"
#include "lang/ir/typing.h"

#include <unordered_map>

namespace transform {

struct TypedAtom {
  lang::Atom atom = nullptr;
  const lang::Type* type = nullptr;
};

class LeafCode {
public:
  /// Code for floats of type `written` at a leaf.
  LeafCode(lang::Builder& builder, const lang::Typing& ofModule, runtime::DType written,
           TypedAtom leaf)
      : make_(builder), typing_(ofModule), from_(written), leaf_(leaf) {}

  /// What a variable of the function is here.
  void set(lang::BlockBuilder& out, const lang::Var& var, TypedAtom atom) {
    known_[&var] = converted(out, atom);
  }
  /// Writes a block and answers with its value, which is of no use when there is a problem.
  TypedAtom written(lang::BlockBuilder& out, const lang::Block& block);
  /// Why the code does not fit; empty when it does.
  const lang::Words& problem() const { return problem_; }

private:
  TypedAtom written(lang::BlockBuilder& out, const lang::Binding& binding);
  TypedAtom operatorCall(lang::BlockBuilder& out, const lang::Binding& binding,
                         const lang::Call& call, const lang::OperatorRow& row);
  TypedAtom tuple(lang::BlockBuilder& out, const lang::Binding& binding,
                  const lang::TupleExpr& tuple);
  TypedAtom branch(lang::BlockBuilder& out, const lang::Binding& binding, const lang::If& branch);
  runtime::DType to() const { return leaf_.type->dtype; }
  bool isOther(const lang::Type* type) const {
    return from_ != to() && type && type->isTensor() && type->dtype == from_;
  }
  TypedAtom look(lang::BlockBuilder& out, const lang::Expr& atom);
  /// A tensor of the type that the code was written for, in that of the leaf.
  TypedAtom converted(lang::BlockBuilder& out, TypedAtom atom);
  const lang::Call* callWith(const lang::Call& call, const std::vector<lang::Atom>& operands);
  TypedAtom bound(lang::BlockBuilder& out, const lang::Binding& binding, const lang::Expr* value,
                  const lang::Type* type);

  lang::Builder& make_;
  const lang::Typing& typing_;
  runtime::DType from_;
  TypedAtom leaf_;
  std::unordered_map<const lang::Var*, TypedAtom> known_;
  lang::Words problem_;
};

} // namespace transform
