// The engine: compiles a checked module for the machine and runs it, with operators by call sites.
#pragma once

#include "bytecode/compile.h"
#include "bytecode/link.h"
#include "lang/call_sites.h"
#include "profile/recorder.h"
#include "vm/run.h"

namespace bytecode {

struct Options {
  /// What evaluates operators that the machine has no kernel for.
  tensor::TensorEngine engine;
  vm::RunOptions run = {};
  /// Told where the time goes, if anybody wants to know, and how places are called there.
  profile::Recorder* profile = nullptr;
  std::function<std::string(lang::SourceRange)> placeText = {};
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
