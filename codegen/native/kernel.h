// Kernels in machine code: nests of tensor functions, scheduled for the processor at hand and
// compiled by LLVM when they are first called.
//
// codegen/native/ is where engines get native code. Strips stand beside it: they say what results
// look like, run what has no nest or is not compiled, and find the words where native code finds
// that something is a fault.
#pragma once

#include "lower/tensor/engine.h"
#include "runtime/result.h"

namespace codegen {

/// An engine whose kernels run natively; fails where there is no LLVM.
runtime::Result<tensor::TensorEngine> nativeEngine();

/// Makes a kernel that runs natively, where there is LLVM.
std::unique_ptr<runtime::Kernel> makeNativeKernel(const tensor::TensorFunction& function,
                                                  std::span<const strips::SizedProgram> programs);

/// How many nests were compiled for classes of extents, and how many such classes are left to strips
/// because the function has no nest there, or its nest is not compiled.
struct NativeCounts {
  size_t compiled = 0, refused = 0;
};
NativeCounts nativeCounts();

} // namespace codegen
