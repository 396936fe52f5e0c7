// Which values a derivative can hang on: the half of activity analysis that runs backwards.
//
// A value is useful if a way leads from it to the result of the function that it is in, along
// operands with respect to which there are derivatives. What only decides a branch, what stands
// under a `stop_gradient`, what a comparison looks at is not, and is then written as it was: a call
// for such a value is the plain call, which keeps nothing. Nobody knows where functions and
// references lead, so whatever goes into one is useful.
#pragma once

#include "lang/ir/leaf_search.h"
#include "lang/ir/module.h"
#include "lang/ir/typing.h"

#include <unordered_map>
#include <unordered_set>

namespace transform {

/// The operator that is called, also through a variable: its type says which one it is. Null when
/// something else is called.
const lang::OperatorRow* calledOperator(const lang::Call& call, const lang::Typing& typing);

class Usefulness {
public:
  Usefulness(const lang::Module& module, const lang::Typing& typing);

  bool isUseful(const lang::Expr& atom) const { return useful_.contains(&atom); }
  bool isParameter(const lang::Global& global, size_t parameter) const;
  /// Whether the derivative of a call may hang on one of its arguments.
  bool passes(const lang::Call& call, size_t argument) const;

private:
  void addFunction(const lang::Function& function);
  void addBlock(const lang::Block& block, bool isResultUseful);
  void addBinding(const lang::Binding& binding);
  void addCall(const lang::Call& call, bool isResultUseful);
  void add(const lang::Expr& atom);

  const lang::Typing& typing_;
  lang::LeafSearch functions_;
  std::unordered_set<const lang::Expr*> useful_;
};

} // namespace transform
