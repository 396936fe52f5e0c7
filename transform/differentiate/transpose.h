// The transpose of straight code that is linear in some variables.
//
// Reverse mode over a function that is linear gives its transpose, whatever the point; so the rule
// of an operator, which is linear in the cotangent, transposed is its forward rule: from tangents
// of the operands to that of the result. One set of rules serves both modes.
#pragma once

#include "transform/differentiate/cotangents.h"

namespace transform {

/// A call of an operator whose operands have tangents.
struct TangentSite {
  lang::Types operandTypes;
  const lang::Type* resultType;
  const lang::Attributes& attributes;
  std::span<const lang::Atom> operands;
  lang::Atom result;
  /// Of each operand; zero where it has none.
  std::span<const Cotangent> tangents;
};

/// Emits the tangent of the result of an operator that has a rule.
Cotangent pushForward(DerivativeTypes& types, lang::BlockBuilder& out, const lang::OperatorRow& row,
                      const TangentSite& site);

} // namespace transform
