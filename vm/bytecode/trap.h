// Numbers that are none, looked for in what operators give while the machine runs.
#pragma once

#include "runtime/value.h"
#include "vm/machine/observer.h"

namespace bytecode {

/// Watches a run of a program in which operators on floats are calls of sites.
class NonFiniteTrap {
public:
  /// The program must outlive this.
  explicit NonFiniteTrap(const vm::Program& program);
  NonFiniteTrap(const NonFiniteTrap&) = delete;
  NonFiniteTrap& operator=(const NonFiniteTrap&) = delete;

  const vm::Observer& observer() const { return observer_; }

private:
  void keepOperands(uint32_t number, const vm::Slot* registers, const uint16_t* operands);
  std::optional<runtime::Fault> check(const vm::Slot& result);

  const vm::Program& program_;
  vm::Observer observer_;
  /// Of the operator at hand; null when no operator is.
  const vm::HostSite* site_ = nullptr;
  std::vector<runtime::Value> operands_;
};

} // namespace bytecode
