// Splitting work among threads. Which thread does a part never changes a result.
#pragma once

#include "runtime/fault.h"
#include "runtime/function_ref.h"

#include <optional>

namespace runtime {

/// What makes a thread worth waking it (bench/threads.cpp). Tests make it less, to share small
/// work.
inline double nanosecondsOfThread = 20'000;

/// How many threads are worth while for work of so many nanoseconds that is enough for two.
unsigned manyThreadsFor(double nanoseconds);

/// How many threads are worth while for work of so many nanoseconds.
inline unsigned threadsFor(double nanoseconds) {
  return nanoseconds < 2 * nanosecondsOfThread ? 1 : manyThreadsFor(nanoseconds);
}

/// Calls `part` for pieces [first, last) of [0, extent) that start at multiples of `grain`, from
/// several threads. Gives the fault of the first piece that has one; rethrows what a part throws.
std::optional<Fault> runParts(int64_t extent, int64_t grain, unsigned threads,
                              FunctionRef<std::optional<Fault>(int64_t first, int64_t last)> part);

} // namespace runtime
