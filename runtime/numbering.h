// Numbers for objects by where they lie, for tables of what is known of each.
#pragma once

#include "runtime/list.h"

namespace runtime {

class Numbering {
public:
  static constexpr uint32_t none = UINT32_MAX;

  /// The number of an object, or none.
  uint32_t find(const void* object) const { return slots_.empty() ? none : slots_[slotOf(object)]; }
  bool contains(const void* object) const { return find(object) != none; }
  /// Gives an object the next number, the first of which is 0; false when it has one.
  bool add(const void* object);

private:
  /// Where the number of an object is, or the free slot where it would be.
  size_t slotOf(const void* object) const;

  List<const void*> objects_;
  /// Numbers by what is made of an address; a power of two, at most half of them taken.
  List<uint32_t> slots_;
};

} // namespace runtime
