// Words for limits, and the clock.
#include "runtime/run_limits.h"

#include <fmt/format.h>

namespace runtime {

Fault depthFault(const RunLimits& limits) {
  return {FaultKind::Depth, fmt::format("calls are nested deeper than {}", limits.depth)};
}

Fault stepsFault(const RunLimits& limits) {
  return {FaultKind::Steps, fmt::format("the run makes more than {} calls", limits.steps)};
}

Fault timeFault(const RunLimits& limits) {
  return {FaultKind::Time, fmt::format("the run takes longer than {} s", limits.seconds)};
}

Stopwatch::Stopwatch(const RunLimits& limits) {
  // A year is for ever, and far from what the clock can count.
  constexpr double longest = 3600.0 * 24 * 365;
  if (limits.seconds < longest)
    end_ =
        (limits.since == Clock::time_point{} ? Clock::now() : limits.since) +
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.seconds));
}

} // namespace runtime
