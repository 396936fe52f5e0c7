// What values, tensors and heaps hold, counted in bytes, and a limit to it.
//
// The count is kept for each thread: what one makes and another one releases moves the counts of
// both. Bytes that are reserved without being such an object, as for a while by a kernel, are not
// in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>

namespace runtime {

/// The counts of a thread.
struct MemoryAccount {
  int64_t held = 0;
  /// What `held` may be, and the bytes that the limit was given as.
  int64_t limit = INT64_MAX;
  int64_t given = INT64_MAX;
  bool wasReached = false;
  bool (*reclaim)(void* owner) = nullptr;
  void* owner = nullptr;

  bool hasRoom(size_t bytes) const {
    return bytes <= uint64_t(INT64_MAX) && int64_t(bytes) <= limit - std::max<int64_t>(held, 0);
  }
};

inline thread_local constinit MemoryAccount memoryAccount;

/// What takeMemory does where the limit is in the way.
bool takeMemoryAtLimit(size_t bytes);

/// Counts bytes that are about to be used; false, and they are not counted, beyond the limit.
inline bool takeMemory(size_t bytes) {
  if (!memoryAccount.hasRoom(bytes)) [[unlikely]]
    return takeMemoryAtLimit(bytes);
  memoryAccount.held += int64_t(bytes);
  return true;
}
/// As takeMemory, but throws std::bad_alloc beyond the limit.
inline void demandMemory(size_t bytes) {
  if (!takeMemory(bytes)) [[unlikely]]
    throw std::bad_alloc();
}
/// Counts bytes that were given back.
inline void returnMemory(size_t bytes) {
  memoryAccount.held -= int64_t(bytes);
}

/// Bytes that somebody holds, counted until it goes.
class HeldMemory {
public:
  HeldMemory() = default;
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  ~HeldMemory() { returnMemory(bytes_); }

  size_t bytes() const { return bytes_; }
  /// False beyond the limit.
  bool add(size_t bytes) {
    bool isGood = takeMemory(bytes);
    bytes_ += isGood ? bytes : 0;
    return isGood;
  }
  void remove(size_t bytes) {
    bytes_ -= bytes;
    returnMemory(bytes);
  }

private:
  size_t bytes_ = 0;
};

/// Lets this thread hold so many bytes beside what it holds already, as long as it lives.
class MemoryLimit {
public:
  explicit MemoryLimit(int64_t bytes);
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit();

private:
  int64_t before_, beforeGiven_;
  bool wasReachedBefore_;
};

/// What this thread holds; the part of it that counts for its limit, or all without one; and what
/// it may hold beside that.
int64_t heldMemory();
int64_t limitedMemory();
int64_t memoryLeft();

/// Asked, as long as it lives, to give back memory of this thread where the limit is in the way;
/// true when there is more afterwards.
class Reclaimer {
public:
  using Function = bool (*)(void* owner);

  Reclaimer(Function function, void* owner);
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;
  ~Reclaimer();

private:
  Function before_;
  void* ownerBefore_;
};

/// The limit that was in the way of something, in bytes; nothing when there was none.
std::optional<int64_t> reachedMemoryLimit();

} // namespace runtime
