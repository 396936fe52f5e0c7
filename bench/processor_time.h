// The clock of measurements: what others do on the machine counts less in processor time.
#pragma once

#include <ctime>

namespace bench {

/// Processor time of this process, in seconds.
inline double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

} // namespace bench
