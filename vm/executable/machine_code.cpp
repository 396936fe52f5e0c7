// Kernels are told from each other by where their functions lie.
#include "vm/executable/machine_code.h"

#include "codegen/image/levels.h"
#include "codegen/strips/kernel.h"
#include "runtime/refused.h"

namespace executable {

using runtime::demand;

namespace {

bool isFor(const codegen::NestCode& code, const MachineCode& from, const vm::Program& program) {
  bool isGood = true;
  for (uint32_t kernel : from.kernels)
    isGood &= codegen::fits(code, program.kernels[kernel].programs.front());
  return isGood;
}

} // namespace

NativeKernels trustedKernels(const Executable& made,
                             std::span<codegen::PartFunction* const> functions) {
  unsigned best = 1;
  for (const MachineCode& code : made.machineCode)
    best = std::max(best, codegen::fitness(code.target));
  NativeKernels kernels(made.program.kernels.size());
  for (const MachineCode& each : made.machineCode) {
    if (codegen::fitness(each.target) != best)
      continue;
    auto code = codegen::nestCodeOf(each.bytes);
    demand(code && isFor(*code, each, made.program), "its machine code is not for its kernels");
    auto nest = hasImage(*code) ? codegen::loaded(*std::move(code))
                                : codegen::linked(*std::move(code), functions);
    demand(bool(nest), "its machine code cannot be loaded");
    for (uint32_t kernel : each.kernels)
      kernels[kernel] = nest;
  }
  return kernels;
}

std::unique_ptr<runtime::Kernel> kernelOf(const Executable& made, const NativeKernels& kernels,
                                          const tensor::TensorFunction& function,
                                          std::span<const strips::SizedProgram> programs) {
  for (size_t i = 0; i < kernels.size(); ++i)
    if (&made.program.kernels[i].function == &function && kernels[i])
      return codegen::givenKernel(function, programs, kernels[i]);
  return strips::givenKernel(function, programs);
}

} // namespace executable
