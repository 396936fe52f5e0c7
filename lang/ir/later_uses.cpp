// One walk by an explicit stack; a block is behind a binding's parts when it is on top again.
#include "lang/ir/later_uses.h"

#include "lang/ir/walk.h"

#include <algorithm>

namespace lang {

void LaterUses::see(const Block& body) {
  struct Frame {
    const Block* block;
    uint32_t number;
    size_t next = 0;
  };
  std::vector<Frame> stack;
  auto open = [&](const Block& block) {
    stack.push_back({&block, uint32_t(blockEnds_.size())});
    blockEnds_.push_back(0);
  };
  auto use = [&](const Operand& operand) {
    if (operand.value->kind == ExprKind::Var)
      uses_[operand.value].push_back(next_++);
  };
  open(body);
  while (!stack.empty()) {
    Frame& frame = stack.back();
    std::span<const Binding> bindings = frame.block->bindings;
    if (frame.next > 0)
      ends_[bindings[frame.next - 1].var] = {next_, frame.number};
    if (frame.next == bindings.size()) {
      use(frame.block->result);
      blockEnds_[frame.number] = next_;
      stack.pop_back();
      continue;
    }
    const Expr& value = *bindings[frame.next++].value;
    if (value.isAtom())
      use({&value, value.range});
    forEachOperand(value, use);
    size_t nested = stack.size();
    forEachBlock(value, open);
    std::reverse(stack.begin() + ptrdiff_t(nested), stack.end());
  }
}

bool LaterUses::isUsedBehind(const Var& var, const Binding& binding) const {
  auto end = ends_.find(binding.var);
  auto uses = uses_.find(&var);
  if (end == ends_.end() || uses == uses_.end())
    return false;
  auto first = std::ranges::lower_bound(uses->second, end->second.place);
  return first != uses->second.end() && *first < blockEnds_[end->second.block];
}

} // namespace lang
