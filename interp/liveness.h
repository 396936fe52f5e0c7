// Live ranges: after which binding of a block a variable is not needed any more. The machine
// empties the slots of such variables, so a long program holds only the tensors that it still uses.
#pragma once

#include "lang/module.h"

#include <unordered_map>

namespace interp {

/// The variables of a block by the binding after which they are dead. Those that the result of the
/// block is made of are not listed.
class Deaths {
public:
  /// The variables that nothing after binding `i` uses.
  std::span<const lang::Var* const> after(size_t i) const {
    size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span(vars_).subspan(begin, ends_[i] - begin);
  }

private:
  friend class LivenessBuilder;
  std::vector<size_t> ends_;
  std::vector<const lang::Var*> vars_;
};

/// The deaths of every block of a module that has bindings.
using Liveness = std::unordered_map<const lang::Block*, Deaths>;

Liveness findLiveness(const lang::Module& module);

} // namespace interp
