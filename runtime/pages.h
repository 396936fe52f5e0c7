// Memory by pages, from the system: arrays that grow without being copied, and large pages.
//
// The processor remembers the addresses of few pages, so what is large and read all over lies in
// large ones where the system has them.
#pragma once

#include <cstddef>
#include <type_traits>

namespace runtime {

/// A multiple of the size of the system's small pages.
constexpr size_t pageSize = size_t(1) << 16;
constexpr size_t largePage = size_t(1) << 21;

/// Asks for large pages under memory that begins with a page.
void useLargePages(void* memory, size_t bytes);

/// Zeroed memory at a new place that begins with what was at the old one, which is gone; null, and
/// nothing is done, when there is none. No bytes before: null.
void* growPages(void* memory, size_t bytesBefore, size_t bytes);
void freePages(void* memory, size_t bytes);
/// Gives back the pages between two places, which hold zeros or what they held afterwards; false
/// when the system does not. They stay mapped.
bool dropPages(void* begin, void* end);

/// An array that only grows; what was not written is zero, and takes no memory of the system.
template <typename T>
class PagedArray {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  PagedArray() = default;
  PagedArray(const PagedArray&) = delete;
  PagedArray& operator=(const PagedArray&) = delete;
  ~PagedArray() { freePages(data_, size_ * sizeof(T)); }

  T* data() const { return data_; }
  size_t size() const { return size_; }
  /// Makes it larger; it may lie elsewhere then. False when there is no memory.
  bool grow(size_t size) {
    void* grown = growPages(data_, size_ * sizeof(T), size * sizeof(T));
    if (!grown)
      return false;
    data_ = static_cast<T*>(grown);
    size_ = size;
    return true;
  }

private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

} // namespace runtime
