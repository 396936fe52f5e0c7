// Searches in ranges.
#include "vm/bytecode/last_uses.h"

#include <algorithm>

namespace bytecode {

using lang::Block;
using lang::Var;

void LastUses::use(const Var& var) {
  std::vector<uint32_t>& all = of_[&var];
  auto number = uint32_t(uses_.size());
  if (!all.empty())
    uses_[all.back()].next = number;
  all.push_back(number);
  uses_.push_back({&var, UINT32_MAX});
}

void LastUses::endBlock(const Block& block) {
  Range range = std::move(open_.back());
  open_.pop_back();
  range.end = uint32_t(uses_.size());
  ranges_.emplace(&block, std::move(range));
}

std::optional<uint32_t> LastUses::last(const Block& block, const Var& var) const {
  auto found = of_.find(&var);
  if (found == of_.end())
    return std::nullopt;
  const Range& range = ranges_.at(&block);
  auto behind = std::ranges::lower_bound(found->second, range.end);
  if (behind == found->second.begin() || *(behind - 1) < range.begin)
    return std::nullopt;
  auto next = std::ranges::upper_bound(range.bindings, *(behind - 1));
  return uint32_t(next - range.bindings.begin() - 1);
}

std::vector<const Var*> LastUses::dyingAt(const Block& block, size_t binding) const {
  const Range& range = ranges_.at(&block);
  size_t end = endOf(range, binding);
  std::vector<const Var*> dying;
  for (size_t i = range.bindings[binding]; i < end; ++i)
    if (uses_[i].next >= range.end)
      dying.push_back(uses_[i].var);
  return dying;
}

size_t LastUses::usesIn(const Block& block, size_t first, size_t last) const {
  const Range& range = ranges_.at(&block);
  return endOf(range, last) - range.bindings[first];
}

} // namespace bytecode
