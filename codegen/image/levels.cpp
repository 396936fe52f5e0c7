// What of a level code here makes use of is asked of the processor by CPUID, and of the system by
// XGETBV whether it keeps the registers.
#include "codegen/image/levels.h"

#include "codegen/image/cpuid.h"

#include <algorithm>

namespace codegen {

namespace {

constexpr Level levels[] = {
    {"x86-64", "", 0, 0, 0, 0},
    // cx16 sse3 ssse3 sse4.1 sse4.2 popcnt, sahf
    {"x86-64-v2", "+cx16,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+sahf",
     1u << 13 | 1u << 0 | 1u << 9 | 1u << 19 | 1u << 20 | 1u << 23, 0, 1u << 0, 0},
    // avx f16c fma movbe osxsave, avx2 bmi bmi2, lzcnt
    {"x86-64-v3", "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe",
     1u << 28 | 1u << 29 | 1u << 12 | 1u << 22 | 1u << 27, 1u << 5 | 1u << 3 | 1u << 8, 1u << 5,
     0x6},
    // avx512f avx512dq avx512cd avx512bw avx512vl
    {"x86-64-v4", "+avx512f,+avx512dq,+avx512cd,+avx512bw,+avx512vl", 0,
     1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31, 0, 0xe6},
};

} // namespace

/// Of a name the levels up to it; none where it is the name of none.
std::span<const Level> levelsOf(std::string_view name) {
  const Level* last = std::ranges::find(levels, name, &Level::name);
  return last == std::end(levels) ? std::span<const Level>()
                                  : std::span(std::begin(levels), last + 1);
}

#if defined(__x86_64__)

bool isHere(const Level& level) {
  auto all = [](uint64_t there, uint64_t wanted) { return (there & wanted) == wanted; };
  return all(Leaf(1).c, level.c1) && all(Leaf(7).b, level.b7) &&
         all(Leaf(0x80000001).c, level.c8) && all(keptRegisters(), level.kept);
}

#else

bool isHere(const Level&) {
  return false;
}

#endif

#if defined(__aarch64__)
constexpr bool isArm = true;
#else
constexpr bool isArm = false;
#endif

unsigned fitness(std::string_view target) {
  auto parts = levelsOf(target);
  if (parts.empty())
    return isArm && target == armTarget;
  bool runs = std::ranges::all_of(parts, [](const Level& level) { return isHere(level); });
  return runs ? unsigned(parts.size()) : 0;
}

} // namespace codegen
