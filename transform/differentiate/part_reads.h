// Which parameters of globals are tensors that are read in parts: by operators whose rules add to
// parts of what was gathered (lang::GradientRule::addsParts), there or in a function that is called
// with them.
#pragma once

#include "lang/ir/module.h"

#include <set>

namespace transform {

class PartReads {
public:
  explicit PartReads(const lang::Module& module);

  bool contains(const lang::Global& global, size_t parameter) const {
    return found_.contains({&global, parameter});
  }
  /// Whether a call, of the operator of a row if there is one, reads an argument so.
  bool isReadBy(const lang::Call& call, const lang::OperatorRow* row, size_t argument) const;

private:
  std::set<std::pair<const lang::Global*, size_t>> found_;
};

} // namespace transform
