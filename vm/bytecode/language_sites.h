// The sites of a program whose operators the language applies.
#pragma once

#include "lang/calls/call_sites.h"
#include "vm/bytecode/compile.h"
#include "vm/bytecode/convert.h"

namespace bytecode {

class LanguageSites {
public:
  /// What is handed in must outlive this; `sites` has one for each of the program's.
  LanguageSites(const vm::Program& program, const std::deque<OperatorSite>& sites,
                const lang::Typing& typing, const lang::OperatorTable& operators,
                const tensor::TensorEngine& engine)
      : program_(program), sites_(sites), calls_(typing, operators, engine) {}

  /// Applies the operator of a site; the result is an object of the machine that `reader` reads
  /// for. Where the program has no operator for it, the fault is what was found.
  std::optional<runtime::Fault> apply(uint32_t site, std::span<const vm::Slot> operands,
                                      ValueReader& reader, vm::Slot& result,
                                      std::optional<runtime::Fault> found);

private:
  const vm::Program& program_;
  const std::deque<OperatorSite>& sites_;
  lang::CallSites calls_;
};

} // namespace bytecode
