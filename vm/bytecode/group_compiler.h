// Functions that are marked `Primitive=1`: one kernel each, where their operators make one tensor
// function and what calls them has nothing to compare. Others are functions as any.
#pragma once

#include "vm/bytecode/operator_compiler.h"

#include <unordered_map>

namespace bytecode {

class GroupCompiler {
public:
  GroupCompiler(FunctionState& state, OperatorCompiler& operators)
      : state_(state), operators_(operators) {}

  bool keep(const Binding& binding, const lang::Function& function);
  /// Compiles the call if it is one of a group; false if it is not.
  bool call(Scope& scope, const Binding& binding, const lang::Call& call);

private:
  FunctionState& state_;
  OperatorCompiler& operators_;
  /// Functions that are called as kernels, by the variables that name them.
  std::unordered_map<const Expr*, const lang::Function*> groups_;
};

} // namespace bytecode
