// Files of a program for others to use (docs/products.md).
#pragma once

#include "driver/products/targets.h"
#include "driver/session/answer.h"
#include "driver/session/options.h"
#include "vm/executable/executable.h"

namespace driver {

/// Writes what `--emit` says of an executable whose kernels have strip programs, which takes up
/// machine code for the targets. The answer says what is wrong.
void writeProduct(const CompileOptions& options, std::vector<Target> targets,
                  executable::Executable& made, Answer& answer);

} // namespace driver
