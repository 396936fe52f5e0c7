// The handler sets a flag and is gone after its first call, so that the next interrupt has its
// usual effect.
#include "driver/interrupt.h"

#include <atomic>

namespace driver {

namespace {

std::atomic<bool> wasInterrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a handler may touch nothing else");

void noteInterrupt(int) {
  wasInterrupted.store(true, std::memory_order_relaxed);
}

} // namespace

InterruptWatch::InterruptWatch() {
  wasInterrupted = false;
  sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler == SIG_IGN)
    return;
  struct sigaction once = {};
  once.sa_handler = noteInterrupt;
  once.sa_flags = int(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&once.sa_mask);
  sigaction(SIGINT, &once, nullptr);
}

InterruptWatch::~InterruptWatch() {
  sigaction(SIGINT, &before_, nullptr);
}

bool InterruptWatch::isInterrupted() const {
  return wasInterrupted.load(std::memory_order_relaxed);
}

} // namespace driver
