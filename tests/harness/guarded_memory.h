// Memory with pages around it that nobody may touch, so that an access outside ends the process.
#pragma once

#include <cstddef>

namespace harness {

class GuardedMemory {
public:
  /// So many bytes, which end at a page that may not be touched, or else begin behind one.
  GuardedMemory(size_t bytes, bool endsAtGuard);
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory(GuardedMemory&& other) noexcept;
  ~GuardedMemory();

  std::byte* bytes() const { return bytes_; }

private:
  std::byte* bytes_;
  void* mapping_;
  size_t mapped_;
};

} // namespace harness
