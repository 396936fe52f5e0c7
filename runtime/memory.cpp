// The counts of a thread.
#include "runtime/memory.h"

#include <algorithm>
#include <new>

namespace runtime {

namespace {

struct Account {
  int64_t held = 0;
  /// What `held` may be, and the bytes that the limit was given as.
  int64_t limit = INT64_MAX;
  int64_t given = INT64_MAX;
  bool wasReached = false;
  Reclaimer::Function reclaim = nullptr;
  void* owner = nullptr;

  bool hasRoom(size_t bytes) const {
    return bytes <= uint64_t(INT64_MAX) && int64_t(bytes) <= limit - std::max<int64_t>(held, 0);
  }
};

thread_local constinit Account account;

} // namespace

bool takeMemory(size_t bytes) {
  bool hasRoom = account.hasRoom(bytes);
  if (!hasRoom && account.reclaim && account.reclaim(account.owner))
    hasRoom = account.hasRoom(bytes);
  if (hasRoom)
    account.held += int64_t(bytes);
  else
    account.wasReached = account.limit != INT64_MAX;
  return hasRoom;
}

void demandMemory(size_t bytes) {
  if (!takeMemory(bytes))
    throw std::bad_alloc();
}

void returnMemory(size_t bytes) {
  account.held -= int64_t(bytes);
}

MemoryLimit::MemoryLimit(int64_t bytes)
    : before_(account.limit), beforeGiven_(account.given), wasReachedBefore_(account.wasReached) {
  int64_t limit = INT64_MAX;
  if (bytes != INT64_MAX && !__builtin_add_overflow(account.held, bytes, &limit)) {
    account.limit = std::min(before_, limit);
    account.given = bytes;
  }
  account.wasReached = false;
}

MemoryLimit::~MemoryLimit() {
  account.limit = before_;
  account.given = beforeGiven_;
  account.wasReached = wasReachedBefore_;
}

int64_t heldMemory() {
  return account.held;
}

int64_t memoryLeft() {
  return account.limit - std::max<int64_t>(account.held, 0);
}

Reclaimer::Reclaimer(Function function, void* owner)
    : before_(account.reclaim), ownerBefore_(account.owner) {
  account.reclaim = function;
  account.owner = owner;
}

Reclaimer::~Reclaimer() {
  account.reclaim = before_;
  account.owner = ownerBefore_;
}

std::optional<int64_t> reachedMemoryLimit() {
  return account.wasReached ? std::optional(account.given) : std::nullopt;
}

} // namespace runtime
