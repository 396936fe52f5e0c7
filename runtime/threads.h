// Threads that wait for work. They are made when they are first wanted, stay as long as the library
// is loaded, look for more work for a moment, and then sleep. After a fork the child makes its own.
#pragma once

#include "runtime/function_ref.h"

namespace runtime {

/// What `limitThreads` takes at most.
inline constexpr unsigned mostThreads = 256;

/// How many threads the process computes with; at first as many as it has processors.
unsigned threadLimit();
/// From 1 to mostThreads. With 1 no thread is made.
void limitThreads(unsigned most);

/// Calls `work` on this thread and at the same time on others, `most` of them together at most,
/// and returns when all of these calls did. Others are those that nobody else has work for, and
/// that come before this thread is done, so there may be none. `work` throws nothing.
void shareWork(unsigned most, FunctionRef<void()> work);

} // namespace runtime
