// What a run has used of what it may use.
#pragma once

#include "interp/interpret.h"
#include "runtime/memory.h"

namespace interp {

class Budget {
public:
  /// The options must outlive this.
  explicit Budget(const Options& options)
      : options_(options), memory_(options.limits.memory), watch_(options.limits) {}

  /// Counts a call of a function or operator; a fault when the run is to end here.
  std::optional<runtime::Fault> countCall();
  /// Counts a call of a function; a fault when the program may make no more of them.
  std::optional<runtime::Fault> countStep();
  uint64_t calls() const { return calls_; }
  /// Calls of functions alone.
  uint64_t steps() const { return steps_; }

private:
  const Options& options_;
  uint64_t calls_ = 0, steps_ = 0;
  runtime::MemoryLimit memory_;
  runtime::Stopwatch watch_;
};

} // namespace interp
