// Laws of derivatives, for one random program at a time.
//
// Along a line through the arguments of a program (line.h), at one point, the slope of its floats
// is what reverse mode says, what forward mode says, and what the difference quotients say. So is
// that of its gradient of any order: by reverse mode, by forward mode over it, and by quotients.
// What `stop_gradient` gives is the same at all points that quotients look at. All run on reals of
// many digits, so they agree nearly exactly or not at all. Derivatives are written out after as
// much inlining as a run does, and after less, so that functions and branches are differentiated as
// such too.
//
// Not every program has something to compare: an operator may have no gradient, a value may be no
// number, the point may be a kink. A law that throws, or makes a module that is ill-typed or unlike
// the program, does not hold.
#pragma once

#include "tests/harness/check.h"

namespace harness {

enum class DerivativeOutcome : uint8_t {
  /// No float comes in or goes out, or there are no arguments.
  NoFloats,
  /// The program is not run to its end: its data ends it, or it takes long.
  NotRun,
  /// The derivative is refused with a diagnostic.
  Refused,
  /// The value or the slope is no number.
  NotFinite,
  /// The quotients do not agree with each other.
  NotSmooth,
  /// An operator has fewer digits: both modes were compared with each other only.
  FewDigits,
  Compared
};
inline constexpr std::string_view derivativeOutcomeNames[] = {
    "without floats", "not run",       "refused", "not finite",
    "not smooth",     "of few digits", "compared"};

struct DerivativeVerdict {
  DerivativeOutcome outcome = DerivativeOutcome::NoFloats;
  std::optional<Finding> finding = {};
  /// Why the derivative is refused.
  std::string reason = {};
  /// Whether the slope is not zero, so that there was something to compare.
  bool hasSlope = false;
  /// The highest order that was compared, above the first one; 0 is none.
  unsigned comparedOrder = 0;
};

/// Applies the laws to a program that is well-typed and accepted, up to an order. Higher ones take
/// long.
DerivativeVerdict checkDerivatives(Bench& bench, const Program& program, uint64_t seed,
                                   unsigned orders);

} // namespace harness
