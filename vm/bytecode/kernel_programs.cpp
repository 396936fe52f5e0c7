#include "vm/bytecode/kernel_programs.h"

#include "codegen/strips/compile/sized.h"

namespace bytecode {

void addKernelPrograms(executable::Executable& executable, loops::Numbers numbers) {
  for (vm::KernelSite& site : executable.program.kernels)
    if (site.programs.empty())
      if (auto program = strips::programFor(site.function, site.shapes, numbers))
        site.programs.push_back(*std::move(program));
}

} // namespace bytecode
