// Constants that are the same, and hashes for tables of code.
#pragma once

#include "lang/ir/expr.h"

#include <cstddef>

namespace transform {

inline size_t combine(size_t hash, size_t more) {
  return hash * 0x9E3779B97F4A7C15u + more + (hash >> 29);
}

inline size_t hashOf(const void* pointer) {
  return std::hash<const void*>()(pointer);
}

/// Equality and hashes of constants by their bits.
struct SameBits {
  size_t operator()(const lang::Constant* constant) const;
  bool operator()(const lang::Constant* left, const lang::Constant* right) const;
};

} // namespace transform
