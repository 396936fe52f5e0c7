// Strip programs for the kernels of an executable.
#pragma once

#include "lower/loops/nest.h"
#include "vm/executable/executable.h"

namespace bytecode {

/// Gives kernels that have none the programs that run them where nothing makes kernels, with such
/// numbers.
void addKernelPrograms(executable::Executable& executable, loops::Numbers numbers);

} // namespace bytecode
