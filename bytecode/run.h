// The engine: compiles a checked module for the machine and runs it, with operators by call sites.
#pragma once

#include "bytecode/compile.h"
#include "lang/call_sites.h"
#include "lang/run_fault.h"
#include "lang/run_limits.h"

namespace bytecode {

/// How to run; as the reference's.
struct Options {
  tensor::TensorEngine engine;
  std::function<void(uint64_t)> progress = {};
  std::function<void(const runtime::Value&, lang::SourceRange)> show = {};
  std::function<bool()> isInterrupted = {};
  lang::RunLimits limits = {};
};

/// Calls a global of a checked module with as many arguments as it has parameters. Throws
/// TooLarge for a program beyond the bounds of the machine's code.
std::variant<runtime::Value, lang::RunFault>
run(const lang::Module& module, const lang::Typing& typing, const lang::OperatorTable& operators,
    const lang::Global& entry, std::vector<runtime::Value> arguments, const Options& options);

} // namespace bytecode
