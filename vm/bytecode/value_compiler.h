// What a binding computes, by its kind.
#pragma once

#include "vm/bytecode/group_compiler.h"
#include "vm/bytecode/match_compiler.h"

namespace bytecode {

class ValueCompiler {
public:
  ValueCompiler(Parts& parts, BranchCompiler& branches)
      : state_(parts.state), holding_(parts.holding), tuples_(parts.tuples),
        objects_(parts.objects), calls_(parts.calls), branches_(branches),
        matches_(parts, branches), operators_(parts), groups_(parts.state, operators_) {}

  void value(Scope& scope, const Binding& binding, bool isLast);

private:
  void call(Scope& scope, const Binding& binding, const lang::Call& call, bool isLast);

  FunctionState& state_;
  Holding& holding_;
  TupleFields& tuples_;
  ObjectCompiler& objects_;
  CallCompiler& calls_;
  BranchCompiler& branches_;
  MatchCompiler matches_;
  OperatorCompiler operators_;
  GroupCompiler groups_;
};

} // namespace bytecode
