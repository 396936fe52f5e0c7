// How what an operator gives hangs on operands: is it linear in them, a constant, neither?
//
// The tensor expression of an operator answers for each call, so nothing has to be written down.
#pragma once

#include "lang/ir/builder.h"

namespace transform {

/// Joined, Zero is as any other, and what is linear on one way and constant on another is Affine.
enum class Degree : uint8_t {
  Zero,
  /// Does not hang on what linearity is asked of.
  Constant,
  Linear,
  Affine,
  Other
};

Degree joined(Degree a, Degree b);

/// A call of an operator that computes.
struct DegreeSite {
  lang::Types operandTypes;
  const lang::Type* resultType;
  const lang::Attributes& attributes;
  std::span<const lang::Atom> operands;
  /// Of each tensor of the operands.
  std::span<const Degree> degrees;
};

/// The degree of each tensor of the result.
std::vector<Degree> degreesOf(lang::Builder& make, const lang::OperatorRow& row,
                              const DegreeSite& site);

} // namespace transform
