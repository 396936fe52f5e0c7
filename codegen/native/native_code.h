// Machine code of a scheduled nest, by LLVM.
#pragma once

#include "codegen/image/native_run.h"
#include "codegen/llvm/library.h"
#include "codegen/llvm/module.h"
#include "lower/loops/machine_model.h"
#include "lower/loops/nest.h"

namespace codegen {

/// What choosers know of a processor.
loops::MachineModel modelOf(const Processor& processor);

/// The code of a module, without an image; the entries of its parts are their numbers.
NestCode codeWithout(const NestModule& module);
/// The code of a nest that verifies; or why there is none.
runtime::Result<NestCode> codeOf(const loops::Nest& nest, const Processor& processor);

/// The same in memory, for a processor that this process runs on, or for part of what it has.
runtime::Result<std::shared_ptr<const CompiledNest>> compileNest(const loops::Nest& nest,
                                                                 const Processor& processor);

} // namespace codegen
