// The calls that stand in a text, before derivatives are written out: what a fault in the code that
// they became has to do with the text.
#pragma once

#include "lang/ir/module.h"
#include "runtime/run_fault.h"

#include <set>

namespace driver {

class WrittenCalls {
public:
  explicit WrittenCalls(const lang::Module& module);

  /// Says of a fault of the differentiated program what people could not see in their own.
  void explain(runtime::RunFault& fault) const;

private:
  /// Of operators: where, and of which.
  std::set<std::pair<uint32_t, std::string_view>> operators_;
  /// What functions do last, for which no machine keeps a frame; by begin and end.
  std::set<std::pair<uint32_t, uint32_t>> last_;
};

} // namespace driver
