// What runs programs as machine code: from the start on, or from when it is worth compiling them.
#pragma once

#include "codegen/image/image.h"
#include "codegen/llvm/processor.h"
#include "codegen/native/digest.h"
#include "vm/machine/run.h"

#include <chrono>
#include <optional>
#include <string>

namespace vm::native {

/// The code that is wanted for a program; nothing of it points into the program.
struct WantedCode {
  std::string module;
  std::vector<std::string> entries;
  codegen::Digest key;
};

/// Compiles control flow for the processor of that name, or for the one at hand; empty is that one.
/// A program's code is looked for in the cache on disk first, and kept there. Any thread may ask.
class ControlCompiler {
public:
  explicit ControlCompiler(std::optional<codegen::Processor> processor);

  /// Throws NotCompiled.
  WantedCode wantedFor(const Program& program) const;
  /// Of the cache.
  std::optional<codegen::Image> find(const WantedCode& wanted) const;
  runtime::Result<codegen::Image> make(const WantedCode& wanted) const;

private:
  const std::optional<codegen::Processor> processor_;
};

/// What a program has to have done before something is done for it: calls of the loop, and time.
struct Worth {
  uint64_t calls;
  std::chrono::milliseconds time{};
};

/// When a program's code is worth looking for, which takes some milliseconds, and worth making,
/// which takes some tens of them: about as long as the program has run by then.
struct Patience {
  Worth look{1 << 14, std::chrono::milliseconds(10)};
  Worth make{1 << 16, std::chrono::milliseconds(100)};
  /// Whether the loop stands still until code is there.
  bool waits = false;
};

/// Runs a program from its start on as machine code; does nothing where the program is not
/// compiled, or nothing compiles: then the machine's loop runs it. Each runner serves one machine
/// at a time.
Runner runnerOf(const ControlCompiler& compiler, const Program& program);
/// Leaves a program to the loop until its code is there, which another thread makes.
Runner lateRunnerOf(std::shared_ptr<const ControlCompiler> compiler, const Program& program,
                    Patience patience = {});

} // namespace vm::native
