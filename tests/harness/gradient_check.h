// Gradient rules against what they claim: types by the checker, values by differences.
//
// A call is compared along one random direction: the slope that the rule gives against the
// difference quotients of the operator itself. Reals have 50 digits and the step is 2^-66, so a
// smooth function agrees to more than 20 digits; where a native function computes in float64, the
// data does as well and the step is 2^-20. Where the two one-sided quotients differ the point is a
// kink, and the rule, which is a sub-gradient there, must lie between them.
#pragma once

#include "lang/rules/gradient.h"
#include "tests/harness/random.h"
#include "tests/harness/samples.h"

namespace harness {

/// The rule of a row, or null.
const lang::GradientRule* gradientRule(const lang::OperatorRow& row);

/// Whether a call has a float result and a float operand, so that its rule has something to say.
bool isDifferentiable(const lang::OperatorRow& row, lang::Types operands, const lang::Type* output);

/// What is wrong with the rule's function for a call: its form, or its types, which must be those
/// of the operands; empty when nothing is.
std::string gradientTypeProblem(lang::TypeContext& types, const lang::OperatorRow& row,
                                lang::Types operands, const lang::Type* output,
                                const lang::Attributes& attributes);

/// What became of a comparison. A call is not compared where its data faults or a value is not
/// finite.
struct GradientVerdict {
  bool isCompared = false;
  bool isKink = false;
  /// Empty when the rule agrees.
  std::string problem = {};
};

/// Compares the rule of a call, whose extents are numbers, along one direction of random data. With
/// `isNamed` the rule is written over names for the numbers, where the operator takes names.
GradientVerdict compareGradient(lang::TypeContext& types, const OperatorSample& call,
                                Random& random, bool isNamed = false);

/// Compares what becomes of a rule that is differentiated again, in both modes, with difference
/// quotients of the slope that it gives, as operands and the cotangent move.
GradientVerdict compareSecondGradient(lang::TypeContext& types, const OperatorSample& call,
                                      Random& random, bool isNamed = false);

/// The call with its types and attributes, for messages.
std::string callText(const OperatorSample& call);

} // namespace harness
