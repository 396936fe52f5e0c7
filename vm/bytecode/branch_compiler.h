// Branches, and blocks inside of blocks. Branches start from the same state and give up the same
// variables, so what is held afterwards does not depend on the way.
#pragma once

#include "vm/bytecode/parts.h"

namespace bytecode {

class BlockCompiler;

class BranchCompiler {
public:
  /// What branches start from.
  struct Snapshot {
    Holding::Snapshot holding;
    std::vector<ReusableMemory> memory;
  };

  BranchCompiler(Parts& parts, BlockCompiler& blocks)
      : state_(parts.state), holding_(parts.holding), memory_(parts.memory),
        scalars_(parts.scalars), blocks_(blocks) {}

  void branch(Scope& scope, const Binding& binding, const lang::If& value, bool isLast);
  void inner(Scope& scope, const Binding& binding, const Block& inside, bool isLast,
             uint16_t target);
  uint16_t targetFor(Scope& scope, bool isLast);
  void finish(Scope& scope, const Binding& binding, bool isLast, uint16_t target);
  Snapshot snapshot() const { return {holding_.snapshot(), memory_.waiting()}; }
  void restore(const Snapshot& snapshot);

private:
  bool jumpUnless(Scope& scope, const lang::If& value, bool holds, Label otherwise);
  void enter(Scope& outer, Scope& own);

  FunctionState& state_;
  Holding& holding_;
  MemoryReuse& memory_;
  ScalarCalls& scalars_;
  BlockCompiler& blocks_;
};

} // namespace bytecode
