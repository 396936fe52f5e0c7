// Which operator calls of a program are computed together.
//
// A group is a set of calls in one block that one call, its root, needs and nobody else: so only
// the value of the root is seen from outside, and the others may be computed where it stands. All
// are calls that cannot fail, whatever the values of their operands are.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"

#include <unordered_map>

namespace transform {

struct Group {
  /// The members in their order, the last of which is the root; places in the block.
  std::vector<uint32_t> members;
  /// What comes from outside, once each.
  std::vector<const lang::Expr*> operands;
};

/// The groups of a module.
class Groups {
public:
  Groups(const lang::Module& module, const lang::Typing& typing);

  bool isEmpty() const { return groups_.empty(); }
  /// Those of a block, by their roots.
  const std::vector<Group>* of(const lang::Block& block) const;

private:
  std::unordered_map<const lang::Block*, std::vector<Group>> groups_;
};

} // namespace transform
