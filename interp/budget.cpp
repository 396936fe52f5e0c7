// Whoever interrupts is asked at every call.
#include "interp/budget.h"

#include <fmt/format.h>

namespace interp {

std::optional<runtime::Fault> Budget::countCall() {
  ++calls_;
  if (options_.progress)
    options_.progress(calls_);
  if (options_.isInterrupted && options_.isInterrupted())
    return runtime::Fault{runtime::FaultKind::Interrupted,
                          fmt::format("interrupted after {} calls", calls_)};
  return watch_.isOver() ? std::optional(runtime::timeFault(options_.limits)) : std::nullopt;
}

std::optional<runtime::Fault> Budget::countStep() {
  if (steps_++ == options_.limits.steps)
    return runtime::stepsFault(options_.limits);
  return std::nullopt;
}

} // namespace interp
