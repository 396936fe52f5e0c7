// Names of what machine code is for, and whether this processor runs it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace codegen {

/// A level of the System V ABI for x86-64 in terms of what it adds to the one before: features as
/// LLVM calls them, and bits of what the processor and the system say.
struct Level {
  std::string_view name, features;
  /// In leaf 1 of CPUID; in leaf 7; in leaf 0x80000001.
  unsigned c1, b7, c8;
  uint64_t kept;
};

/// The name of code for 64-bit Arm.
inline constexpr std::string_view armTarget = "aarch64";

/// Of a name the levels up to it; none where it is the name of none.
std::span<const Level> levelsOf(std::string_view name);
/// Whether this processor has what a level adds.
bool isHere(const Level& level);
/// How good code of a name is for this processor: of two that run, the greater is of more; 0 where
/// it does not run.
unsigned fitness(std::string_view target);

} // namespace codegen
