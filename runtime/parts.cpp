// A handful of pieces per thread, taken from a common counter.
#include "runtime/parts.h"

#include "runtime/threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace runtime {

unsigned manyThreadsFor(double nanoseconds) {
  return unsigned(std::min(nanoseconds / nanosecondsOfThread, double(threadLimit())));
}

std::optional<Fault> runParts(int64_t extent, int64_t grain, unsigned threads,
                              FunctionRef<std::optional<Fault>(int64_t, int64_t)> part) {
  int64_t grains = (extent + grain - 1) / grain;
  int64_t pieces = std::min(grains, int64_t(threads) * 4);
  if (threads <= 1 || pieces <= 1)
    return part(0, extent);
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::optional<Fault> fault;
  int64_t faultPiece = pieces;
  std::exception_ptr thrown;
  auto work = [&] {
    try {
      for (int64_t piece = next++; piece < pieces; piece = next++) {
        int64_t first = grains * piece / pieces * grain;
        int64_t last = std::min(extent, grains * (piece + 1) / pieces * grain);
        if (auto found = part(first, last)) {
          std::lock_guard lock(mutex);
          if (piece < faultPiece) {
            fault.emplace(std::move(*found));
            faultPiece = piece;
          }
          return;
        }
      }
    } catch (...) {
      std::lock_guard lock(mutex);
      thrown = std::current_exception();
    }
  };
  shareWork(unsigned(std::min<int64_t>(threads, pieces)), work);
  if (thrown)
    std::rethrow_exception(thrown);
  return fault;
}

} // namespace runtime
