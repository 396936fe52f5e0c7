// Memory that tensors share: a counted header with the elements behind it, or over elements that
// somebody else owns.
//
// The count is atomic, so tensors that share a buffer may live in several threads. What is not
// shared is released without an atomic step. A header has room for the one value that shows the
// buffer (value.h), so a tensor that a run makes is one block of memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace runtime {

struct Buffer {
  std::atomic<size_t> references{1};
  /// Of its block, this header included.
  size_t bytes = 0;
  /// Over foreign elements: what gives them back.
  void (*release)(void* owner) = nullptr;
  void* owner = nullptr;

  /// The elements begin at so many bytes behind a buffer of its own elements.
  static constexpr size_t header = 128;
  static constexpr size_t roomBytes = header - 32;
  /// Memory for whoever is the only one to refer to the buffer.
  void* room() { return this + 1; }
};
static_assert(sizeof(Buffer) == Buffer::header - Buffer::roomBytes);

/// A counted pointer to a buffer.
class SharedBuffer {
public:
  SharedBuffer() = default;
  /// A buffer of so many bytes, not cleared, at a multiple of 64. Throws std::bad_alloc.
  explicit SharedBuffer(size_t bytes);
  /// A buffer over elements that `release(owner)` gives back, in the thread that refers to them
  /// last. Throws std::bad_alloc, and then it does not release.
  SharedBuffer(void (*release)(void* owner), void* owner);
  SharedBuffer(const SharedBuffer& other) : buffer_(other.buffer_) {
    if (buffer_)
      buffer_->references.fetch_add(1, std::memory_order_relaxed);
  }
  SharedBuffer(SharedBuffer&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  SharedBuffer& operator=(SharedBuffer other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~SharedBuffer() {
    if (buffer_ && (isOnly() || buffer_->references.fetch_sub(1, std::memory_order_acq_rel) == 1))
      destroy(buffer_);
  }

  /// The elements of a buffer of its own.
  std::byte* bytes() const { return reinterpret_cast<std::byte*>(buffer_) + Buffer::header; }
  /// Whether nobody else refers to the buffer.
  bool isOnly() const { return buffer_->references.load(std::memory_order_acquire) == 1; }
  void* room() const { return buffer_->room(); }

private:
  static void destroy(Buffer* buffer) noexcept;

  Buffer* buffer_ = nullptr;
};

} // namespace runtime
