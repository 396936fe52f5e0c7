// The uses of variables in one function, in the order of the text, as numbers.
//
// A block and each of its bindings is a range of them, nested blocks included. So the last use in a
// block is found among the uses of the variable, and nothing is kept for a variable in each of the
// blocks around its use.
#pragma once

#include "lang/ir/module.h"

#include <unordered_map>
#include <vector>

namespace bytecode {

class LastUses {
public:
  // Told in the order of the text: blocks, their bindings, and last their result as one more.
  void beginBlock() { open_.push_back({uint32_t(uses_.size()), 0, {}}); }
  void beginBinding() { open_.back().bindings.push_back(uint32_t(uses_.size())); }
  void use(const lang::Var& var);
  void endBlock(const lang::Block& block);

  /// The last binding of the block that uses the variable, if any does; the number of bindings
  /// stands for the result.
  std::optional<uint32_t> last(const lang::Block& block, const lang::Var& var) const;
  /// The variables for which a binding is the last one in its block.
  std::vector<const lang::Var*> dyingAt(const lang::Block& block, size_t binding) const;
  /// How many uses are in bindings from the first to the last.
  size_t usesIn(const lang::Block& block, size_t first, size_t last) const;

private:
  struct Range {
    uint32_t begin, end;
    /// Where each binding begins.
    std::vector<uint32_t> bindings;
  };
  struct Use {
    const lang::Var* var;
    /// The next use of it.
    uint32_t next;
  };

  static size_t endOf(const Range& range, size_t binding) {
    return binding + 1 < range.bindings.size() ? range.bindings[binding + 1] : range.end;
  }

  std::vector<Use> uses_;
  std::unordered_map<const lang::Var*, std::vector<uint32_t>> of_;
  std::unordered_map<const lang::Block*, Range> ranges_;
  std::vector<Range> open_;
};

} // namespace bytecode
