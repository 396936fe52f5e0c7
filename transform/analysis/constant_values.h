// What follows from constants alone, computed before the program runs.
//
// Only operators that compute are run, and only where the result is not too large. A result must
// have the very type that checking found; a call that faults has no value here.
#pragma once

#include "lang/calls/call_sites.h"
#include "lang/ir/module.h"

namespace transform {

class ConstantValues {
public:
  ConstantValues(const lang::Module& module, const lang::Typing& typing,
                 const lang::OperatorTable& operators, const tensor::TensorEngine& engine);

  /// Notes what a binding gives, where what it is made of was noted before; an unset value where
  /// constants do not tell.
  const runtime::Value& learn(const lang::Binding& binding);
  /// The value of an atom; an unset one when it is not known.
  runtime::Value of(const lang::Expr& atom) const;
  /// The bytes of the constants in a text that a value is made of, as far as they are known.
  size_t written(const lang::Expr& value) const;
  /// Says that a text has a value as a constant of so many bytes.
  void write(const lang::Var& var, size_t bytes) { written_[var.number] = bytes; }

private:
  runtime::Value computed(const lang::Binding& binding);
  runtime::Value called(const lang::Binding& binding, const lang::Call& call);
  std::optional<std::vector<runtime::Value>>
  valuesOf(std::span<const lang::Operand> operands) const;
  bool isWorthwhile(const lang::Call& call, const lang::Type* type) const;
  bool hasType(const runtime::Value& value, const lang::Type* type) const;

  const lang::Typing& typing_;
  lang::TypeContext& types_;
  lang::CallSites sites_;
  /// By Var::number.
  std::vector<runtime::Value> values_;
  /// The bytes of constants in the text that a variable holds or is made of.
  std::vector<size_t> written_;
  bool tensorsChange_;
};

/// The bytes of the tensors of a type; nothing when it is of another kind, or an extent is no
/// number.
std::optional<size_t> bytesOfAll(const lang::Type* type);

} // namespace transform
