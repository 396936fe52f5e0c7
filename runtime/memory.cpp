// Limits, and what happens at them.
#include "runtime/memory.h"

namespace runtime {

bool takeMemoryAtLimit(size_t bytes) {
  MemoryAccount& account = memoryAccount;
  bool hasRoom = account.reclaim && account.reclaim(account.owner) && account.hasRoom(bytes);
  if (hasRoom)
    account.held += int64_t(bytes);
  else
    account.wasReached = account.limit != INT64_MAX;
  return hasRoom;
}

MemoryLimit::MemoryLimit(int64_t bytes)
    : before_(memoryAccount.limit), beforeGiven_(memoryAccount.given),
      wasReachedBefore_(memoryAccount.wasReached) {
  int64_t limit = INT64_MAX;
  if (bytes != INT64_MAX && !__builtin_add_overflow(memoryAccount.held, bytes, &limit)) {
    memoryAccount.limit = std::min(before_, limit);
    memoryAccount.given = bytes;
  }
  memoryAccount.wasReached = false;
}

MemoryLimit::~MemoryLimit() {
  memoryAccount.limit = before_;
  memoryAccount.given = beforeGiven_;
  memoryAccount.wasReached = wasReachedBefore_;
}

int64_t heldMemory() {
  return memoryAccount.held;
}

int64_t limitedMemory() {
  int64_t before = memoryAccount.limit == INT64_MAX ? 0 : memoryAccount.limit - memoryAccount.given;
  return std::max<int64_t>(memoryAccount.held - before, 0);
}

int64_t memoryLeft() {
  return memoryAccount.limit - std::max<int64_t>(memoryAccount.held, 0);
}

Reclaimer::Reclaimer(Function function, void* owner)
    : before_(memoryAccount.reclaim), ownerBefore_(memoryAccount.owner) {
  memoryAccount.reclaim = function;
  memoryAccount.owner = owner;
}

Reclaimer::~Reclaimer() {
  memoryAccount.reclaim = before_;
  memoryAccount.owner = ownerBefore_;
}

std::optional<int64_t> reachedMemoryLimit() {
  return memoryAccount.wasReached ? std::optional(memoryAccount.given) : std::nullopt;
}

} // namespace runtime
