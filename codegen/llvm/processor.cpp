// The levels are those of the System V ABI for x86-64; what of them code here makes use of is asked
// of the processor by CPUID, and of the system by XGETBV whether it keeps the registers.
#include "codegen/llvm/processor.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace codegen {

using runtime::Error;
using runtime::Result;

bool Processor::has(std::string_view feature) const {
  std::string text = "," + features + ",";
  return text.find(fmt::format(",{},", feature)) != text.npos;
}

uint32_t Processor::vectorBytes() const {
  if (triple.starts_with("x86_64"))
    return has("+avx512f") && has("+avx512vl") ? 64 : has("+avx2") && has("+fma") ? 32 : 16;
  return 16;
}

uint32_t Processor::registers() const {
  if (!triple.starts_with("x86_64"))
    return 24;
  return vectorBytes() < 64 ? 16 : 32;
}

namespace {

/// A level in terms of what it adds to the one before.
struct Level {
  std::string_view name, features;
  /// In leaf 1 of CPUID; in leaf 7; in leaf 0x80000001.
  unsigned c1, b7, c8;
  uint64_t kept;
};

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

/// Of a name the levels up to it; none where it is the name of none.
std::span<const Level> levelsOf(std::string_view name) {
  const Level* last = std::ranges::find(levels, name, &Level::name);
  return last == std::end(levels) ? std::span<const Level>()
                                  : std::span(std::begin(levels), last + 1);
}

#if defined(__x86_64__)

/// What CPUID says for a leaf; zeros where there is none.
struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
  explicit Leaf(unsigned number, unsigned part = 0) {
    __get_cpuid_count(number, part, &a, &b, &c, &d);
  }
};

/// Registers that the system keeps for each thread, a bit for each kind.
uint64_t keptRegisters() {
  constexpr unsigned asks = 1u << 27;
  if (!(Leaf(1).c & asks))
    return 0;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

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

} // namespace

#if defined(__x86_64__)

std::string hostIdentity() {
  std::string text = fmt::format("x86-64 {:x}", keptRegisters());
  constexpr std::pair<unsigned, unsigned> told[] = {
      {0, 0}, {1, 0}, {7, 0}, {7, 1}, {0x80000001, 0}};
  for (auto [number, part] : told) {
    Leaf leaf(number, part);
    // Leaf 1 also says on which of the processors this thread is.
    unsigned b = number == 1 ? 0 : leaf.b;
    text += fmt::format(" {:x} {:x} {:x} {:x}", leaf.a, b, leaf.c, leaf.d);
  }
  return text;
}

#else

std::string hostIdentity() {
  return "";
}

#endif

Result<Processor> targetNamed(std::string_view name) {
  if (name == "aarch64")
    return Processor{"aarch64-unknown-linux-gnu", "generic", "+neon"};
  auto parts = levelsOf(name);
  if (parts.empty())
    return Error{fmt::format("there is no processor `{}`; there are `x86-64`, `x86-64-v2`, "
                             "`x86-64-v3`, `x86-64-v4` and `aarch64`",
                             name)};
  Processor named{"x86_64-unknown-linux-gnu", std::string(name), ""};
  for (const Level& level : parts)
    named.features += (named.features.empty() ? "" : ",") + std::string(level.features);
  return named;
}

Result<Processor> processorNamed(std::string_view name) {
  auto named = targetNamed(name);
  if (!named)
    return named;
  auto parts = levelsOf(name);
  auto lacking = std::ranges::find_if_not(parts, isHere);
  if (parts.empty())
    return Error{fmt::format("this machine is no `{}`", name)};
  if (lacking != parts.end())
    return Error{
        fmt::format("this machine is no `{}`: it lacks something of `{}`", name, lacking->name)};
  return named;
}

} // namespace codegen
