// All kernels of a program as one module of LLVM, for one processor or for several of one family.
#pragma once

#include "driver/products/targets.h"
#include "lower/loops/nest.h"
#include "vm/executable/executable.h"

namespace driver {

/// A module of the kernels that can be compiled, and what the executable has to say of them: its
/// machine code, whose parts are numbers of `functions`.
struct ProgramModule {
  std::string text;
  /// The symbols of parts.
  std::vector<std::string> functions;
  std::vector<executable::MachineCode> machineCode;
  /// What all of the targets have: functions say themselves what they have besides.
  codegen::Processor base;
};

/// Targets are of one family, and there is one at least.
ProgramModule programModule(const executable::Executable& made, loops::Numbers numbers,
                            const std::vector<Target>& targets);

} // namespace driver
