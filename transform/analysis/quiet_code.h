// Which code is quiet: what calls it cannot tell when it runs, how often, or whether it ran at all,
// but by the value, by the time and memory that it takes, and by its not ending.
//
// Quiet code computes with operators that accept every value of their operands' types, makes and
// takes apart data, and calls quiet code. It has no references and no partial match, divides no
// whole numbers, and has no size that a run would have to compare. Functions that it is given count
// as quiet: whoever hands them in answers for them, which is why what quiet code is given may hold
// no other functions (`isPlain`).
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"

#include <unordered_map>

namespace transform {

class QuietCode {
public:
  QuietCode(const lang::Module& module, const lang::Typing& typing);

  const lang::Typing& typing() const { return typing_; }
  /// A call of the global, all that it mentions included.
  bool isQuiet(const lang::Global& global);
  /// A call of a literal, likewise.
  bool isQuiet(const lang::Function& literal);
  /// Whether values of the type hold no functions and no references, and have no size that a run
  /// compares.
  bool isPlain(const lang::Type* type);

private:
  struct Part {
    bool isQuiet = false;
    std::vector<const lang::Global*> mentions = {};
  };
  const Part& part(const lang::Function& function);
  void spreadNoise(const lang::Function& function,
                   const std::unordered_map<const lang::Function*,
                                            std::vector<const lang::Function*>>& mentioners);
  bool isQuietPart(const lang::Function& root);
  bool isQuietValue(const lang::Expr& value, const lang::Type* type) const;
  bool isQuietCall(const lang::Call& call, const lang::Type* type) const;

  const lang::Typing& typing_;
  bool tensorsChange_;
  std::unordered_map<const lang::Function*, Part> parts_;
  /// By function, once it is known, with all that it reaches.
  std::unordered_map<const lang::Function*, bool> known_;
  std::unordered_map<const lang::Type*, bool> plain_;
};

} // namespace transform
