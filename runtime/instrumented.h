// Whether this is built to watch over memory, so that what asks the system for less must not hide
// blocks from the watcher, and limits of address space do not hold.
#pragma once

namespace runtime {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool isInstrumented = true;
#elif defined(__has_feature)
inline constexpr bool isInstrumented = __has_feature(address_sanitizer);
#else
inline constexpr bool isInstrumented = false;
#endif

} // namespace runtime
