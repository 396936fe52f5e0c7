// Data for comparing gradient rules.
//
// Some operators are defined on positive or small numbers only, and some have kinks where elements
// are equal, so floats are drawn from one of several ranges for each comparison, and integers are
// few and small, so that they are positions, often the same ones, now and then.
#pragma once

#include "runtime/value.h"
#include "tests/harness/random.h"
#include "tests/harness/samples.h"

namespace harness {

/// Values for the parameters of a comparison.
struct GradientData {
  std::vector<runtime::Value> values;
  /// Whether the weights choose a single element of the result.
  bool isSingle = false;
};

/// Values for as many operands as the call has, then directions, then weights. Without ties no two
/// floats of an operand are equal, nor of the operands that `isStepwise` marks.
GradientData gradientData(const OperatorSample& call, lang::Types parameters, Random& random,
                          bool withTies, const std::vector<bool>& isStepwise);

} // namespace harness
