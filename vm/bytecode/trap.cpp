// The operands are kept until the result is looked at, so that no kernel writes it into their
// memory.
#include "vm/bytecode/trap.h"

#include "lang/calls/non_finite.h"
#include "vm/machine/value.h"

namespace bytecode {

NonFiniteTrap::NonFiniteTrap(const vm::Program& program) : program_(program) {
  observer_.entered = [](uint32_t, bool) {};
  observer_.left = [] {};
  observer_.asked = [](uint32_t) {};
  observer_.answered = [] {};
  observer_.given = [this](uint32_t site, const vm::Slot* registers, const uint16_t* operands) {
    keepOperands(site, registers, operands);
  };
  observer_.check = [this](const vm::Slot& result) { return site_ ? check(result) : std::nullopt; };
}

void NonFiniteTrap::keepOperands(uint32_t number, const vm::Slot* registers,
                                 const uint16_t* operands) {
  const vm::HostSite& site = program_.sites[number];
  site_ = site.kind == vm::SiteKind::Language ? &site : nullptr;
  operands_.clear();
  if (!site_)
    return;
  for (size_t i = 0; i < site.operands.size(); ++i)
    operands_.push_back(vm::toValue(program_, site.operands[i], registers[operands[i]]));
}

std::optional<runtime::Fault> NonFiniteTrap::check(const vm::Slot& result) {
  return lang::nonFiniteFault(program_.operators[site_->op], operands_,
                              vm::toValue(program_, site_->result, result));
}

} // namespace bytecode
