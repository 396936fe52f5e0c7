// Matches.
//
// Arms are tried in their order; a constructor that is the only one left is not tested. Fields are
// loaded as the pattern is followed, borrowed from the object, so an arm that does not fit leaves
// nothing behind.
#pragma once

#include "vm/bytecode/branch_compiler.h"

namespace bytecode {

class MatchCompiler {
public:
  MatchCompiler(Parts& parts, BranchCompiler& branches)
      : state_(parts.state), holding_(parts.holding), branches_(branches) {}

  void match(Scope& scope, const Binding& binding, const lang::Match& value, bool isLast);

private:
  uint16_t layoutOf(const lang::Constructor& constructor, const lang::Type* type);
  std::vector<const lang::Arm*> inOrder(const lang::Match& value, const lang::Type* type,
                                        uint16_t layout);
  std::vector<size_t> partsInOrder(const lang::Pattern& pattern) const;
  std::vector<Label> switchOn(const lang::Match& value, uint16_t object, Label unmatched);
  void fail(const lang::Match& value, const Var& object);
  bool matchArm(const lang::Pattern& pattern, const lang::Type* type, const Var& value,
                uint32_t level, bool isTagKnown, Label next);
  std::vector<const Var*> loadParts(const lang::Pattern& pattern, lang::Types types,
                                    uint16_t layout, const Var& value, uint32_t level);
  void checkParts();

  FunctionState& state_;
  Holding& holding_;
  BranchCompiler& branches_;
  /// Parts that the pattern at hand names and that have to be compared.
  std::vector<const Var*> unchecked_;
};

} // namespace bytecode
