// Calls of a function by itself whose result only goes into a new object, with which the call ends:
// `Cons(f(x), map(f, t))`. The object is made first, with that field open, and the call takes the
// place of this one (`wrap`): so such a recursion takes no room, as in Leijen and Lorenzen, Tail
// Recursion Modulo Context.
//
// The object is made before the call instead of behind it, which nobody can tell: nothing looks at
// it before it is complete.
#pragma once

#include "vm/bytecode/parts.h"

#include <unordered_map>

namespace bytecode {

class WrappedCalls {
public:
  explicit WrappedCalls(Parts& parts)
      : state_(parts.state), holding_(parts.holding), memory_(parts.memory), calls_(parts.calls) {}

  bool call(Scope& scope);

private:
  using UseCounts = std::unordered_map<const Expr*, size_t>;
  bool mayWrap(const Scope& scope);
  void wrap(Scope& scope, size_t at, UseCounts& usesLeft);

  FunctionState& state_;
  Holding& holding_;
  MemoryReuse& memory_;
  CallCompiler& calls_;
};

} // namespace bytecode
