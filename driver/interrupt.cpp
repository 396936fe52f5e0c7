// The handler of a watch sets a flag; called again, it ends the process as if there were no watch.
#include "driver/interrupt.h"

#include "driver/answer.h"
#include "formats/file.h"

#include <atomic>
#include <unistd.h>

namespace driver {

namespace {

std::atomic<bool> wasInterrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a handler may touch nothing else");

void endBySignal(int signal) {
  formats::removePartialFile();
  if (signal == SIGINT)
    _exit(int(ExitCode::Interrupted));
  // The handler is gone, so this time the signal has its usual effect when it returns.
  raise(signal);
}

void noteInterrupt(int signal) {
  if (wasInterrupted.exchange(true, std::memory_order_relaxed))
    endBySignal(signal);
}

/// Whoever started the process may want a signal to be ignored.
void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  sigaction(signal, nullptr, &action);
  if (action.sa_handler == SIG_IGN)
    return;
  action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

} // namespace

void handleSignals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    handle(signal, endBySignal, int(SA_RESETHAND));
  ::signal(SIGXFSZ, SIG_IGN);
}

InterruptWatch::InterruptWatch() {
  wasInterrupted = false;
  sigaction(SIGINT, nullptr, &before_);
  handle(SIGINT, noteInterrupt, SA_RESTART);
}

InterruptWatch::~InterruptWatch() {
  sigaction(SIGINT, &before_, nullptr);
}

bool InterruptWatch::isInterrupted() const {
  return wasInterrupted.load(std::memory_order_relaxed);
}

} // namespace driver
