// Growth, and moving items as bytes.
#include "runtime/list.h"

#include <cstring>

namespace runtime {

void ListMemory::reserve(size_t count, size_t itemBytes) {
  if (count <= capacity_)
    return;
  if (count > UINT32_MAX)
    throw std::bad_alloc();
  void* items = ::operator new(count* itemBytes);
  if (size_ > 0)
    std::memcpy(items, items_, size_ * itemBytes);
  ::operator delete(items_);
  items_ = items;
  capacity_ = uint32_t(count);
}

void ListMemory::grow(size_t itemBytes) {
  reserve(std::max<size_t>(size_t(capacity_) * 2, 4), itemBytes);
}

void* ListMemory::open(size_t at, size_t itemBytes) {
  if (size_ == capacity_)
    grow(itemBytes);
  std::byte* place = static_cast<std::byte*>(items_) + at * itemBytes;
  std::memmove(place + itemBytes, place, (size_ - at) * itemBytes);
  ++size_;
  return place;
}

void ListMemory::close(size_t first, size_t last, size_t itemBytes) noexcept {
  auto* items = static_cast<std::byte*>(items_);
  if (last < size_)
    std::memmove(items + first * itemBytes, items + last * itemBytes, (size_ - last) * itemBytes);
  size_ -= uint32_t(last - first);
}

void ListMemory::append(const void* items, size_t count, size_t itemBytes) {
  if (count == 0)
    return;
  if (size_ + count > capacity_)
    reserve(std::max(size_ + count, size_t(capacity_) * 2), itemBytes);
  std::memcpy(static_cast<std::byte*>(items_) + size_ * itemBytes, items, count * itemBytes);
  size_ += uint32_t(count);
}

} // namespace runtime
