// Live ranges: after which binding of a block a variable is not needed any more. A machine that
// empties such variables holds only the tensors that a long program still uses.
#pragma once

#include "lang/ir/module.h"

#include <unordered_map>

namespace lang {

/// The variables of a block by the binding after which they are dead. Those that the result of the
/// block is made of are not listed. An argument of a call that is of a block around is listed too
/// where nothing behind the call needs it.
class Deaths {
public:
  /// The variables that nothing after binding `i` uses.
  std::span<const Var* const> after(size_t i) const {
    size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span(vars_).subspan(begin, ends_[i] - begin);
  }

private:
  friend class LivenessBuilder;
  std::vector<size_t> ends_;
  std::vector<const Var*> vars_;
};

/// The deaths of every block of a module that has bindings.
using Liveness = std::unordered_map<const Block*, Deaths>;

Liveness findLiveness(const Module& module);

} // namespace lang
