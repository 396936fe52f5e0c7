// Which parameters of globals are tensors that are read in parts: by operators whose rules add to
// parts of what was gathered (lang::GradientRule::addsParts), there or in a function that is called
// with them.
#pragma once

#include "lang/ir/module.h"

#include <set>
#include <unordered_map>

namespace transform {

class PartReads {
public:
  explicit PartReads(const lang::Module& module);

  bool contains(const lang::Global& global, size_t parameter) const {
    return found_.contains({&global, parameter});
  }
  /// What a call, of the operator of a row if there is one, reads so of an argument: the argument,
  /// or the first field of it if the block of the call makes a tuple of that; null if nothing.
  const lang::Expr* readBy(const lang::Call& call, const lang::OperatorRow* row,
                           size_t argument) const;

private:
  using Parameter = std::pair<const lang::Global*, size_t>;

  void findFields(const lang::Block& body);

  std::set<Parameter> found_;
  std::unordered_map<const lang::Call*, const lang::Expr*> fields_;
};

} // namespace transform
