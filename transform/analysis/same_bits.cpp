// A tensor is all its bytes, so that no two zeros or numbers that are none become one.
#include "transform/analysis/same_bits.h"

#include "runtime/tensor.h"

#include <cstring>
#include <string_view>

namespace transform {

using lang::Constant;

size_t SameBits::operator()(const Constant* constant) const {
  size_t hash = combine(hashOf(constant->type), constant->bits);
  if (!constant->tensor)
    return hash;
  const auto* bytes = reinterpret_cast<const char*>(constant->tensor->bytes());
  return combine(hash, std::hash<std::string_view>()({bytes, constant->tensor->byteSize()}));
}

bool SameBits::operator()(const Constant* left, const Constant* right) const {
  if (left->type != right->type || !left->tensor != !right->tensor)
    return false;
  if (!left->tensor)
    return left->bits == right->bits;
  return std::memcmp(left->tensor->bytes(), right->tensor->bytes(), left->tensor->byteSize()) == 0;
}

} // namespace transform
