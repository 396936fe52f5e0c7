// What instructions on numbers compute. Nothing fails.
#pragma once

#include "codegen/strips/program.h"

#include <algorithm>

namespace strips {

/// a + b * c, which wraps.
inline int64_t sumOf(int64_t a, int64_t b, int64_t c) {
  return int64_t(uint64_t(a) + uint64_t(b) * uint64_t(c));
}

/// What an instruction that makes a number makes of its operands.
inline int64_t numberOf(Code code, int64_t a, int64_t b, int64_t c) {
  switch (code) {
  case Code::Sum:
    return sumOf(a, b, c);
  case Code::Quotient:
    return b <= 0 ? 0 : a / b - (a % b < 0);
  case Code::Least:
    return std::min(a, b);
  case Code::Greatest:
    return std::max(a, b);
  default:
    return __builtin_mul_overflow(a, b, &c) ? INT64_MAX : c;
  }
}

/// Whether an instruction makes a number of others.
inline bool makesNumber(const Instruction& at) {
  return at.code <= Code::Count;
}

/// Does one that does. Only sums have a third operand.
inline void makeNumber(const Instruction& at, int64_t* n) {
  n[at.out] = numberOf(at.code, n[at.a], n[at.b], at.code == Code::Sum ? n[at.c] : 0);
}

} // namespace strips
