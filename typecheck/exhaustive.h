// Match checking: is every case covered, and is every arm of use? By usefulness of pattern vectors
// (Maranget, "Warnings for pattern matching", 2007).
#pragma once

#include "lang/ir/expr.h"

#include <string>
#include <vector>

namespace typecheck {

struct MatchCoverage {
  static constexpr size_t mostMissing = 8;
  /// Cases that no arm covers, as patterns, no more than `mostMissing`.
  std::vector<lang::Words> missing;
  /// Whether there are more.
  bool hasMoreMissing = false;
  /// The arms that no value reaches.
  std::vector<size_t> useless;
  /// True when the match has too many combinations to decide; then the rest means nothing.
  bool tooComplex = false;
};

MatchCoverage coverage(const lang::Match& match);

} // namespace typecheck
