// Machine code of the kernels of an executable, for processors that need not be the one at hand.
#pragma once

#include "driver/products/targets.h"
#include "lower/loops/nest.h"
#include "vm/executable/executable.h"

namespace driver {

/// A nest with its schedule for a target, and the kernels that it computes, by their numbers.
struct KernelNest {
  loops::Nest nest;
  std::vector<uint32_t> kernels;
};

/// The nests of kernels that have strip programs, for the sizes of the first of these, each nest
/// once. Functions without a nest, and those that give an input back, have none.
std::vector<KernelNest> kernelNests(const executable::Executable& made, loops::Numbers numbers,
                                    const Target& target);

/// Gives an executable machine code for targets, in place of what it has. Fails where there is no
/// LLVM; kernels that cannot be compiled are left to strips.
runtime::Result<size_t> addMachineCode(executable::Executable& made, loops::Numbers numbers,
                                       const std::vector<Target>& targets);

} // namespace driver
