// The code of a function of scalars, put in place for tensors: operators broadcast, so the same
// calls, with other types, do for every element what they did for one float.
#pragma once

#include "lang/builder.h"
#include "lang/typing.h"

#include <unordered_map>

namespace transform {

struct TypedAtom {
  lang::Atom atom = nullptr;
  const lang::Type* type = nullptr;
};

class LeafCode {
public:
  LeafCode(lang::Builder& builder, const lang::Typing& ofModule)
      : make_(builder), typing_(ofModule) {}

  /// What a variable of the function is here.
  void set(const lang::Var& var, TypedAtom atom) { known_[&var] = atom; }
  /// Writes a block and answers with its value, which is of no use when there is a problem.
  TypedAtom written(lang::BlockBuilder& out, const lang::Block& block);
  /// Why the code does not fit; empty when it does.
  const std::string& problem() const { return problem_; }

private:
  TypedAtom written(lang::BlockBuilder& out, const lang::Binding& binding);
  TypedAtom operatorCall(lang::BlockBuilder& out, const lang::Binding& binding,
                         const lang::Call& call, const lang::OperatorRow& row);
  TypedAtom tuple(lang::BlockBuilder& out, const lang::Binding& binding,
                  const lang::TupleExpr& tuple);
  TypedAtom branch(lang::BlockBuilder& out, const lang::Binding& binding, const lang::If& branch);
  TypedAtom look(const lang::Expr& atom);
  TypedAtom bound(lang::BlockBuilder& out, const lang::Binding& binding, const lang::Expr* value,
                  const lang::Type* type);

  lang::Builder& make_;
  const lang::Typing& typing_;
  std::unordered_map<const lang::Var*, TypedAtom> known_;
  std::string problem_;
};

} // namespace transform
