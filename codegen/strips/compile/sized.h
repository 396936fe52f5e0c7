// Strip programs from tensor functions: the back end that needs nothing but this program.
#pragma once

#include "codegen/strips/kernel.h"
#include "lower/loops/nest.h"
#include "lower/tensor/engine.h"
#include "runtime/checks/shapes.h"
#include "runtime/result.h"

namespace strips {

/// The program for all extents of the class of these, those of inputs and then of results, or,
/// where nothing is proven of the class, for these extents alone.
runtime::Checked<SizedProgram> programFor(const tensor::TensorFunction& function,
                                          std::span<const int64_t> extents, loops::Numbers numbers);

/// The program for all extents that calls of such shapes may have; nothing where there is none.
std::optional<SizedProgram> programFor(const tensor::TensorFunction& function,
                                       const checks::Shapes& shapes, loops::Numbers numbers);

/// Makes a kernel of strip programs: those given, and where they end one for each class of extents,
/// whose numbers are reordered.
std::unique_ptr<runtime::Kernel> makeKernel(const tensor::TensorFunction& function,
                                            std::span<const SizedProgram> programs);

/// What makes programs with such numbers for kernels, and what makes kernels of such programs.
MakeProgram programMaker(loops::Numbers numbers);
tensor::MakeKernel kernelMaker(loops::Numbers numbers);

/// An engine that runs strip programs.
tensor::TensorEngine stripsEngine(loops::Numbers numbers = loops::Numbers::Reordered);

} // namespace strips
