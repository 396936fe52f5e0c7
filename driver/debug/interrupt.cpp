// The handler of a watch sets a flag; called again, it ends the process as if there were no watch.
#include "driver/debug/interrupt.h"

#include "driver/session/answer.h"
#include "runtime/formats/file.h"

#include <atomic>
#include <pthread.h>
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

/// Where the watch is. The system takes any thread, and only in this one a read ends.
std::atomic<pthread_t> watcher;
static_assert(std::atomic<pthread_t>::is_always_lock_free, "a handler may touch nothing else");

void noteInterrupt(int signal) {
  if (!pthread_equal(pthread_self(), watcher)) {
    pthread_kill(watcher, signal);
    return;
  }
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

InterruptWatch::InterruptWatch(Reads reads) {
  wasInterrupted = false;
  watcher = pthread_self();
  sigaction(SIGINT, nullptr, &before_);
  handle(SIGINT, noteInterrupt, reads == Reads::GoOn ? SA_RESTART : 0);
}

InterruptWatch::~InterruptWatch() {
  sigaction(SIGINT, &before_, nullptr);
}

bool InterruptWatch::isInterrupted() {
  return wasInterrupted.load(std::memory_order_relaxed);
}

} // namespace driver
