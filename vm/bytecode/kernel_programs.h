// Strip programs for the kernels of an executable.
#pragma once

#include "vm/executable/executable.h"

namespace bytecode {

/// Gives kernels that have none the programs that run them where nothing makes kernels.
void addKernelPrograms(executable::Executable& executable);

} // namespace bytecode
