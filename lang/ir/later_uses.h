// Whether a block uses a variable again behind one of its bindings, in branches and functions there
// too.
#pragma once

#include "lang/ir/module.h"

#include <unordered_map>

namespace lang {

class LaterUses {
public:
  /// Takes in a function's body. Bindings of others have nothing behind them.
  void see(const Block& body);
  bool isUsedBehind(const Var& var, const Binding& binding) const;

private:
  struct End {
    /// Uses from this one on are behind the binding.
    uint32_t place;
    uint32_t block;
  };

  /// Uses are numbered in the order of the text.
  uint32_t next_ = 0;
  std::unordered_map<const Expr*, std::vector<uint32_t>> uses_;
  std::unordered_map<const Var*, End> ends_;
  /// Of each block the first use behind it.
  std::vector<uint32_t> blockEnds_;
};

} // namespace lang
