// A handful of pieces per thread, taken from a common counter.
#include "lower/strips/tensor_eval_parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace lower {

size_t manyThreadsFor(double nanoseconds) {
  constexpr double most = 8;
  const auto wanted = size_t(std::min(nanoseconds / nanosecondsOfThread, most));
  return wanted < 2 ? wanted
                    : std::min(wanted, size_t(std::max(1u, std::thread::hardware_concurrency())));
}

std::optional<runtime::Fault>
runParts(int64_t extent, int64_t grain, size_t threads,
         runtime::FunctionRef<std::optional<runtime::Fault>(int64_t, int64_t)> part) {
  int64_t grains = (extent + grain - 1) / grain;
  int64_t pieces = std::min(grains, int64_t(threads) * 4);
  if (threads <= 1 || pieces <= 1)
    return part(0, extent);
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::optional<runtime::Fault> fault;
  int64_t faultPiece = pieces;
  std::exception_ptr thrown;
  auto work = [&] {
    for (int64_t piece = next++; piece < pieces; piece = next++)
      try {
        int64_t first = grains * piece / pieces * grain;
        int64_t last = std::min(extent, grains * (piece + 1) / pieces * grain);
        if (auto found = part(first, last)) {
          std::lock_guard lock(mutex);
          if (piece < faultPiece) {
            fault = std::move(found);
            faultPiece = piece;
          }
        }
      } catch (...) {
        std::lock_guard lock(mutex);
        thrown = std::current_exception();
      }
  };
  std::vector<std::thread> others;
  try {
    others.reserve(threads);
    for (size_t i = 1; i < std::min(threads, size_t(pieces)); ++i)
      others.emplace_back(work);
  } catch (const std::exception&) {
    // Fewer threads do the same work.
  }
  work();
  for (std::thread& other : others)
    other.join();
  if (thrown)
    std::rethrow_exception(thrown);
  return fault;
}

} // namespace lower
