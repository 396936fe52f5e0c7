// A table of open addresses.
#include "runtime/numbering.h"

namespace runtime {

size_t Numbering::slotOf(const void* object) const {
  constexpr uint64_t factor = 0x9e3779b97f4a7c15;
  size_t slot = size_t(reinterpret_cast<uintptr_t>(object) * factor >> 32);
  for (;; ++slot) {
    slot &= slots_.size() - 1;
    if (slots_[slot] == none || objects_[slots_[slot]] == object)
      return slot;
  }
}

bool Numbering::add(const void* object) {
  if (contains(object))
    return false;
  size_t number = objects_.size();
  objects_.push_back(object);
  if (objects_.size() * 2 > slots_.size()) {
    slots_.assign(std::max<size_t>(slots_.size() * 2, 16), none);
    for (size_t i = 0; i < number; ++i)
      slots_[slotOf(objects_[i])] = uint32_t(i);
  }
  slots_[slotOf(object)] = uint32_t(number);
  return true;
}

} // namespace runtime
