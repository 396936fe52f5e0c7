// Threads of a library take no signals: those are for the threads of the program. A new thread has
// the mask of who makes it.
#pragma once

#include <csignal>

namespace runtime {

/// While it lives, no signal comes to this thread, nor to those that it makes.
class SignalsKeptBack {
public:
  SignalsKeptBack() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsKeptBack(const SignalsKeptBack&) = delete;
  ~SignalsKeptBack() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_;
};

} // namespace runtime
