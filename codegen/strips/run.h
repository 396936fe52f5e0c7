// Runs strip programs.
#pragma once

#include "codegen/strips/program.h"
#include "lower/elements/products.h"
#include "runtime/fault.h"

#include <optional>
#include <span>

namespace strips {

/// A kernel of lower/elements; which pointer counts hangs on its kind.
union Kernel {
  lower::ApplyKernel apply;
  decltype(lower::ReduceKernels::addLanes) addLanes;
  decltype(lower::ReduceKernels::addAll) addAll;
};

/// A program with the loops of elements that it names. It is only read by runs, so several may use
/// it at once.
struct LinkedProgram {
  Program program;
  List<Kernel> kernels;
  lower::RowLoops rowLoops;
  /// Whether somebody else may have made the program, which is verified: then each access to memory
  /// is looked at.
  bool isForeign = false;
};

/// The loop that a name is for; null where there is none.
Kernel kernelOf(const KernelName& name);
LinkedProgram linked(Program program, bool isForeign = false);

/// What numbers are behind the code in front of all loops, for some sizes, and where that code ends.
struct Prepared {
  static constexpr bool movesAsBytes = true;

  List<int64_t> numbers;
  uint32_t start = 0;
  /// Of a foreign program, how many iterations its loops may have.
  int64_t mostIterations = 0;
};

/// Does what hangs on the sizes of a program alone.
Prepared prepared(const Program& program, std::span<const int64_t> sizes);

/// Runs a program. `buffers` are inputs and outputs in the order of the nest that it was made of; of
/// a foreign program `bytes` says how long each is. A fault is a division by zero, a position outside
/// of a tensor, or no memory; what outputs hold then is anything.
std::optional<runtime::Fault> run(const LinkedProgram& linked, const Prepared& prepared,
                                  std::span<std::byte* const> buffers,
                                  std::span<const int64_t> bytes = {});

} // namespace strips
