// Threads for work that is too small for them, so that small programs reach what shares work.
#pragma once

#include "runtime/parts.h"
#include "runtime/threads.h"

namespace harness {

/// As long as it lives, kernels are computed by three threads wherever they can be. Nobody else may
/// call kernels when it comes and goes.
class SharedWork {
public:
  SharedWork() {
    runtime::limitThreads(3);
    runtime::nanosecondsOfThread = 0.01;
  }
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;
  ~SharedWork() {
    runtime::limitThreads(threads_);
    runtime::nanosecondsOfThread = nanoseconds_;
  }

private:
  unsigned threads_ = runtime::threadLimit();
  double nanoseconds_ = runtime::nanosecondsOfThread;
};

} // namespace harness
