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
};

LinkedProgram linked(Program program);

/// Runs a program. `buffers` are inputs and outputs in the order of the nest that it was made of,
/// `sizes` its sizes. A fault is a division by zero, a position outside of a tensor, or no memory;
/// what outputs hold then is anything.
std::optional<runtime::Fault> run(const LinkedProgram& linked, std::span<std::byte* const> buffers,
                                  std::span<const int64_t> sizes);

} // namespace strips
