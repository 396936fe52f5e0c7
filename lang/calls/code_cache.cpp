// What makes two calls alike, and what code takes.
#include "lang/calls/code_cache.h"

#include <algorithm>

namespace lang {

bool CodeKey::operator==(const CodeKey& other) const {
  return row == other.row && open == other.open && numbers == other.numbers &&
         std::ranges::equal(attributes.values, other.attributes.values);
}

size_t CodeKey::hash() const {
  size_t hash = reinterpret_cast<size_t>(row);
  for (int64_t number : numbers)
    hash = hash * 31 + size_t(number);
  return hash;
}

size_t CallCode::bytes() const {
  bool isOwner = kernel && !(key.open && kernel == key.open->kernel());
  return sizeof *this + (isOwner ? kernel->bytes() : exact.bytes) +
         parameters.numbers.size() * sizeof(int64_t) + parameters.reals.size() * sizeof(double) +
         key.numbers.size() * sizeof(int64_t) * 2;
}

} // namespace lang
