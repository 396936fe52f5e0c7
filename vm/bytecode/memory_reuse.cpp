// Memory is claimed by the binding that is to use it, and follows it into branches.
#include "vm/bytecode/memory_reuse.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

/// The binding of a block that makes an object of so many fields, and has no memory for it yet.
std::optional<size_t> MemoryReuse::unclaimedConstruction(const Block& block, size_t fields) {
  for (size_t at = 0; true; ++at) {
    at = constructions_.find(block, at, fields);
    if (at == block.bindings.size())
      return std::nullopt;
    bool isClaimed = std::ranges::any_of(waiting_, [&](const ReusableMemory& memory) {
      return memory.block == &block && memory.binding == at;
    });
    if (!isClaimed)
      return at;
  }
}

/// The binding behind those that compute arguments.
const Binding& MemoryReuse::upcomingCall(const Scope& scope) const {
  constexpr size_t mostArguments = 8;
  std::span<const Binding> bindings = scope.block.bindings;
  size_t at = scope.at, end = std::min(at + mostArguments, bindings.size() - 1);
  while (at < end && state_.usage.argument(*bindings[at].var) &&
         !isFunctionCall(*bindings[at].value))
    ++at;
  return bindings[at];
}

/// Takes memory for an object before a call that makes a part of it: so what is traversed from the
/// top lies in memory in that order.
void MemoryReuse::reserve(const Scope& scope) {
  const Binding& binding = upcomingCall(scope);
  const Usage::Construction* made = state_.usage.construction(*binding.var);
  auto at = size_t(&binding - scope.block.bindings.data());
  bool isReturned =
      scope.isTail && state_.isFlat() && made && made->binding + 1 == scope.block.bindings.size();
  if (!made || isReturned || (scope.isTail && isWrappedCall(scope.block, at, state_.itself())) ||
      made->block != &scope.block || !isFunctionCall(*binding.value) ||
      state_.rep(state_.typeOf(*binding.var)).isScalar())
    return;
  auto isClaimed = [&](const ReusableMemory& memory) {
    return memory.block == made->block && memory.binding == made->binding;
  };
  if (std::ranges::any_of(waiting_, isClaimed))
    return;
  uint16_t layout = state_.layoutMade(scope.block.bindings[made->binding]),
           reg = state_.registers.take();
  state_.code.emit(Op::Reserve, reg, layout);
  size_t fields = state_.made.program.layouts[layout].fields.size();
  waiting_.push_back({reg, fields, made->block, made->binding});
}

/// The register for the memory of an object that is given up where a block begins, its own, if the
/// block makes one of as many fields.
std::optional<uint16_t> MemoryReuse::tokenFor(const Scope& scope, const Var& var) {
  const Held& gone = holding_.held(var);
  if (gone.rep.hold != Hold::Owned || gone.layout == vm::none)
    return std::nullopt;
  size_t fields = state_.made.program.layouts[gone.layout].fields.size();
  auto used = fields > 0 ? unclaimedConstruction(scope.block, fields) : std::nullopt;
  if (!used)
    return std::nullopt;
  waiting_.push_back({gone.reg, fields, &scope.block, *used});
  return gone.reg;
}

/// Memory that waits for the object which a binding makes.
std::optional<uint16_t> MemoryReuse::takeFor(const Scope& scope, size_t binding, size_t fields) {
  for (size_t i = 0; i < waiting_.size(); ++i)
    if (waiting_[i].block == &scope.block && waiting_[i].binding == binding &&
        waiting_[i].fields == fields) {
      uint16_t reg = waiting_[i].reg;
      waiting_.erase(waiting_.begin() + ptrdiff_t(i));
      return reg;
    }
  return std::nullopt;
}

/// Memory that waits for branches is for the one that is entered, or is free there.
void MemoryReuse::enterBranch(const Scope& outer, const Scope& own) {
  for (size_t i = 0; i < waiting_.size();) {
    ReusableMemory& memory = waiting_[i];
    if (memory.block != &outer.block || memory.binding != outer.at) {
      ++i;
    } else if (auto used = unclaimedConstruction(own.block, memory.fields)) {
      memory.block = &own.block;
      memory.binding = *used;
      ++i;
    } else {
      state_.code.emit(Op::FreeToken, memory.reg);
      state_.registers.free(memory.reg);
      waiting_.erase(waiting_.begin() + ptrdiff_t(i));
    }
  }
}

} // namespace bytecode
