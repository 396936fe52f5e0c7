// The program of a tensor function for a class of sizes.
#pragma once

#include "codegen/strips/program.h"
#include "runtime/kernel_code.h"

namespace strips {

struct ProgramResult {
  static constexpr bool movesAsBytes = true;

  runtime::DType type;
  uint32_t rank = 0;
  runtime::ResultSource source = {};
  /// As in runtime::CodeResult.
  List<uint32_t> replaceable = {};
};

struct SizedProgram {
  static constexpr bool movesAsBytes = true;

  /// Of each extent, of inputs and then of results: a number, or, where it is one of the program's
  /// sizes, -1 less its place among these.
  List<int64_t> pattern = {};
  /// No size is less.
  int64_t leastSize = 0;
  List<uint32_t> inputRanks = {};
  List<ProgramResult> results = {};
  Program program = {};
};

/// The sizes of a program for these extents; nothing where it is not made for them.
inline bool findSizes(const SizedProgram& sized, std::span<const int64_t> extents,
                      List<int64_t>& sizes) {
  if (sized.pattern.size() != extents.size())
    return false;
  // Sizes of forms are far below what a number can be.
  constexpr int64_t unknown = -1, mostSize = int64_t(1) << 31;
  sizes.assign(sized.program.sizeCount, unknown);
  for (size_t i = 0; i < extents.size(); ++i) {
    int64_t is = sized.pattern[i];
    if (is >= 0 ? is != extents[i] : extents[i] < sized.leastSize || extents[i] > mostSize)
      return false;
    if (is >= 0)
      continue;
    int64_t& size = sizes[size_t(-1 - is)];
    if (size != unknown && size != extents[i])
      return false;
    size = extents[i];
  }
  return true;
}

} // namespace strips
