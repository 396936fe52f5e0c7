// Asked of the processor itself: the compiler's own question brings names and features of all
// processors along.
#include "lower/elements/wide_registers.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace lower {

#if defined(__x86_64__)

namespace {

/// The system must keep the registers, too, which it says in a register of its own.
__attribute__((target("xsave"))) bool askProcessor() {
  constexpr unsigned sse = 2, avx = 4;
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_OSXSAVE) == 0 || (c & bit_AVX) == 0)
    return false;
  return (__builtin_ia32_xgetbv(0) & (sse | avx)) == (sse | avx) &&
         __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2) != 0;
}

} // namespace

bool hasWideRegisters() {
  static const bool has = askProcessor();
  return has;
}

#else

bool hasWideRegisters() {
  return false;
}

#endif

} // namespace lower
