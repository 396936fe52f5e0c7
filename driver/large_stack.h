// A stack that is large enough for every text: recursion over nesting is bounded at some thousand
// levels, which the usual eight megabytes need not hold in an unoptimised or instrumented build.
#pragma once

#include <functional>

namespace driver {

/// Runs `body` on a thread with a stack of 512 MiB, or less where that cannot be had, and waits for
/// it; an exception of `body` is thrown here.
void runOnLargeStack(const std::function<void()>& body);

} // namespace driver
