// What an x86-64 says of itself, and what the system keeps for each thread of it.
#pragma once

#if defined(__x86_64__)

#include <cpuid.h>
#include <cstdint>

namespace codegen {

/// What CPUID says for a leaf; zeros where there is none.
struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
  explicit Leaf(unsigned number, unsigned part = 0) {
    __get_cpuid_count(number, part, &a, &b, &c, &d);
  }
};

/// Registers that the system keeps for each thread, a bit for each kind.
inline uint64_t keptRegisters() {
  constexpr unsigned asks = 1u << 27;
  if (!(Leaf(1).c & asks))
    return 0;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

} // namespace codegen

#endif
