// The machine code of an executable, for who trusts it.
//
// A verifier says of bytecode and strip programs that they do no harm; of machine code nobody can.
// So it is loaded only when whoever runs an executable asks for it.
#pragma once

#include "codegen/image/native_kernel.h"
#include "vm/executable/executable.h"

namespace executable {

/// Of each kernel of an executable its machine code for this processor; null where there is none.
using NativeKernels = runtime::List<std::shared_ptr<const codegen::CompiledNest>>;

/// The machine code for this processor, of the target that fits best. `functions` are what code
/// without an image is linked with. Throws runtime::Refused where it is no code for the kernels
/// that it is said to be for, or cannot be loaded.
NativeKernels trustedKernels(const Executable& made,
                             std::span<codegen::PartFunction* const> functions = {});

/// A kernel of one of the executable's tensor functions, by its strip programs and by what there is
/// of machine code: an empty list is none.
std::unique_ptr<runtime::Kernel> kernelOf(const Executable& made, const NativeKernels& kernels,
                                          const tensor::TensorFunction& function,
                                          std::span<const strips::SizedProgram> programs);

} // namespace executable
