// Which operator calls of a program are computed together.
//
// A group is a set of values in one block, computed where the last one, its root, stands. The
// others are only used in the group, or behind it: then they are results, too. A value that is
// cheap may be in several groups, each of which computes it. None of them can fail, whatever the
// values of their operands are.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

namespace transform {

struct Group {
  /// Places in the block, the last of which is the root.
  std::set<uint32_t> members;
  /// Members that are used outside, in order.
  std::set<uint32_t> results;
  /// What comes from outside, once each.
  std::vector<const lang::Expr*> operands = {};
};

/// The groups of one block.
struct BlockGroups {
  /// By the places of their roots.
  std::map<uint32_t, Group> byRoot;
  /// The bindings that are left in the block besides.
  std::vector<bool> stays;
};

/// The groups of a module.
class Groups {
public:
  Groups(const lang::Module& module, const lang::Typing& typing);

  bool isEmpty() const { return groups_.empty(); }
  /// Null for a block without groups.
  const BlockGroups* of(const lang::Block& block) const;

private:
  std::unordered_map<const lang::Block*, BlockGroups> groups_;
};

} // namespace transform
