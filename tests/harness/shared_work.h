// Threads for work that is too small for them, so that small programs reach what shares work.
#pragma once

#include "lower/strips/tensor_eval_parallel.h"
#include "runtime/threads.h"

namespace harness {

/// As long as it lives, kernels are computed by three threads wherever they can be. Nobody else may
/// call kernels when it comes and goes.
class SharedWork {
public:
  SharedWork() {
    runtime::limitThreads(3);
    lower::nanosecondsOfThread = 0.01;
  }
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;
  ~SharedWork() {
    runtime::limitThreads(threads_);
    lower::nanosecondsOfThread = nanoseconds_;
  }

private:
  unsigned threads_ = runtime::threadLimit();
  double nanoseconds_ = lower::nanosecondsOfThread;
};

} // namespace harness
