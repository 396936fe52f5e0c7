// What a run may use before it ends with a fault, the same for every machine that runs programs.
#pragma once

#include "runtime/fault.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace runtime {

struct RunLimits {
  /// Calls that may be open at once.
  size_t depth = 5'000'000;
  /// Calls of functions, those in tail position and the first one included. Operators and
  /// constructors do not count, but where a constructor is called as a value.
  uint64_t steps = UINT64_MAX;
  /// Bytes of tensors and objects that may be held, beside the constants and inputs.
  int64_t memory = INT64_MAX;
  /// Seconds; an operator that computes goes on to its end.
  double seconds = std::numeric_limits<double>::infinity();
  /// When they began, if that was before the run; the clock never shows its beginning.
  std::chrono::steady_clock::time_point since = {};
};

/// The faults of runs that pass a limit.
Fault depthFault(const RunLimits& limits);
Fault stepsFault(const RunLimits& limits);
Fault timeFault(const RunLimits& limits);

/// The time of a run, from when it is made.
class Stopwatch {
public:
  explicit Stopwatch(const RunLimits& limits);

  /// Whether the time is over.
  bool isOver() const { return end_ != never && Clock::now() >= end_; }

private:
  using Clock = std::chrono::steady_clock;

  static constexpr auto never = Clock::time_point::max();
  Clock::time_point end_ = never;
};

} // namespace runtime
