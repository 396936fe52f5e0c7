// Finding items of a list by what is in them: open addressing over their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sizes {

/// Mixes a part into a hash.
inline uint64_t mixed(uint64_t hash, uint64_t part) {
  hash = (hash ^ part) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

class HashIndex {
public:
  static constexpr uint32_t none = UINT32_MAX;

  /// The item of this hash for which `isSame` holds, or `none`.
  template <typename IsSame>
  uint32_t find(uint64_t hash, IsSame&& isSame) const {
    if (slots_.empty())
      return none;
    size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask; slots_[at].item != none; at = (at + 1) & mask)
      if (slots_[at].hash == uint32_t(hash) && isSame(slots_[at].item))
        return slots_[at].item;
    return none;
  }

  /// Adds an item that is not there.
  void add(uint64_t hash, uint32_t item) {
    constexpr size_t least = 32;
    if (2 * ++count_ > slots_.size()) {
      std::vector<Slot> before(slots_.empty() ? least : 2 * slots_.size());
      before.swap(slots_);
      for (const Slot& slot : before)
        if (slot.item != none)
          place(slot);
    }
    place({uint32_t(hash), item});
  }

private:
  /// Half of the hash is enough for tables of forms.
  struct Slot {
    uint32_t hash = 0, item = none;
  };

  void place(const Slot& slot) {
    size_t mask = slots_.size() - 1, at = slot.hash & mask;
    while (slots_[at].item != none)
      at = (at + 1) & mask;
    slots_[at] = slot;
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

} // namespace sizes
