// The values of a block that may be made in groups.
#pragma once

#include "lang/calls/boundary.h"
#include "lang/ir/module.h"
#include "lang/ir/typing.h"
#include "lower/tensor/access.h"

#include <map>
#include <unordered_map>

namespace transform {

/// What an operator gives that cannot fail, a part of that, or a tuple for an operator.
struct Candidate {
  const lang::Expr* value;
  std::vector<const lang::Expr*> operands = {};
  /// By operand; those of a tuple together.
  std::vector<tensor::Reading> readings = {};
  /// Whether it is a reduction, or a scan.
  bool reduces = false;
  /// Whether it is its operand under another shape, which takes no time.
  bool isView = false;
  /// Whether it is a constant in another order, which readers may as well read where it lies.
  bool moves = false;
  /// As far as numbers tell; an open extent counts as 1.
  size_t bytes = 0;
  /// Whether it may be computed again where a second reader needs it.
  bool isCheap = true;
};

class Candidates {
public:
  Candidates(const lang::Block& block, const lang::Typing& typing,
             const lang::Boundaries& boundaries);

  /// By place in the block.
  const std::map<uint32_t, Candidate>& all() const { return all_; }
  const Candidate& at(uint32_t place) const { return all_.at(place); }
  /// The candidates that use a variable, once for each use.
  std::span<const uint32_t> users(const lang::Expr& atom) const;

private:
  std::map<uint32_t, Candidate> all_;
  std::unordered_map<const lang::Expr*, std::vector<uint32_t>> users_;
};

} // namespace transform
