// The engine: compiles a checked module for the machine and runs it, with operators by call sites.
#pragma once

#include "lang/calls/call_sites.h"
#include "vm/bytecode/compile.h"
#include "vm/bytecode/kernel_watch.h"
#include "vm/bytecode/link.h"
#include "vm/bytecode/profile.h"
#include "vm/machine/run.h"
#include "vm/profile/recorder.h"

namespace bytecode {

/// Calls of an entry with the same arguments, again and again, to be timed.
struct Repetition {
  /// What a call took, in seconds by the clock and of this thread.
  struct Taken {
    double clock, processor;
  };
  using Calls = std::vector<Taken>;
  /// Calls go on until there are so many and they took so long together.
  struct Goal {
    size_t least = 1;
    double seconds = 0;
  };

  /// Calls in which code is made and memory is met for the first time, and the ones that count.
  Goal warmUp = {};
  Goal timed = {};
  Calls warmUpCalls = {}, calls = {};
  /// Those behind, in which kernels are watched.
  Goal watched = {};
  Calls watchedCalls = {};
  KernelWatch watch = {};
};

struct Options {
  /// What evaluates operators that the machine has no kernel for.
  tensor::TensorEngine engine;
  vm::RunOptions run = {};
  /// What runs a program in place of the machine's loop, if anything does.
  std::function<vm::Runner(const vm::Program&)> makeRunner = {};
  /// Told where the time goes, if anybody wants to know, and what that is called there.
  profile::Recorder* profile = nullptr;
  Profiler::Texts texts = {};
  /// Whether NaN and infinity end the run where they arise; not for executables, and not with a
  /// profile.
  bool trapsNonFinite = false;
  /// If the entry is to be called again and again; the value is that of the last call.
  Repetition* repetition = nullptr;
};

/// Calls a global of a checked module with as many arguments as it has parameters. Throws
/// TooLarge for a program beyond the bounds of the machine's code.
std::variant<runtime::Value, runtime::RunFault>
run(const lang::Module& module, const lang::Typing& typing, const lang::OperatorTable& operators,
    const lang::Global& entry, std::vector<runtime::Value> arguments, const Options& options);

/// Calls an entry of an executable, by number, with as many arguments as it has parameters.
std::variant<runtime::Value, runtime::RunFault>
run(Linked& linked, size_t entry, const lang::Module& language, const lang::Typing& typing,
    const lang::OperatorTable& operators, std::vector<runtime::Value> arguments,
    const Options& options);

} // namespace bytecode
