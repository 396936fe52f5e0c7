// Blocks: one binding after the other, then the result.
#pragma once

#include "vm/bytecode/value_compiler.h"
#include "vm/bytecode/wrapped_calls.h"

namespace bytecode {

class BlockCompiler {
public:
  explicit BlockCompiler(Parts& parts)
      : state_(parts.state), holding_(parts.holding), memory_(parts.memory), tuples_(parts.tuples),
        calls_(parts.calls), scalars_(parts.scalars), wrapped_(parts), branches_(parts, *this),
        values_(parts, branches_) {}
  BlockCompiler(const BlockCompiler&) = delete;
  BlockCompiler& operator=(const BlockCompiler&) = delete;

  void block(Scope& scope);

private:
  void finishBlock(Scope& scope);
  bool isFused(const Scope& scope, const Binding& binding);

  FunctionState& state_;
  Holding& holding_;
  MemoryReuse& memory_;
  TupleFields& tuples_;
  CallCompiler& calls_;
  ScalarCalls& scalars_;
  WrappedCalls wrapped_;
  BranchCompiler branches_;
  ValueCompiler values_;
};

} // namespace bytecode
