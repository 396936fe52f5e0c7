// What runs programs as machine code.
#pragma once

#include "codegen/image/image.h"
#include "codegen/llvm/processor.h"
#include "vm/machine/run.h"

#include <optional>
#include <string>

namespace vm::native {

/// Compiles control flow for the processor of that name, or for the one at hand; empty is that one.
/// A program's code is looked for in the cache on disk first, and kept there. Each runner serves
/// one machine at a time.
class ControlCompiler {
public:
  explicit ControlCompiler(std::optional<codegen::Processor> processor);

  /// Null where the program is not compiled, or nothing compiles: then the machine's loop runs it.
  Runner runnerOf(const Program& program);

private:
  runtime::Result<codegen::Image> imageOf(const Program& program);

  std::optional<codegen::Processor> processor_;
};

} // namespace vm::native
