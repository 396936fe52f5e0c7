// What `baton run` can evaluate tensor expressions with.
#pragma once

#include "driver/session/options.h"
#include "lower/tensor/engine.h"
#include "runtime/result.h"
#include "vm/machine/run.h"

#include <string>

namespace driver {

/// What is said of a name that no engine has.
std::string noEngine(const std::string& name);

/// Whether the engine of that name is the machine.
bool isMachine(const std::string& name);

/// Whether the machine runs the program; it computes in the program's own types, and looks at no
/// result but where the program does.
bool isOnMachine(const RunOptions& options);

/// What evaluates tensor expressions for a run; no name of an engine stands for the default, which
/// is `auto` on the machine; beside it `interp` when there is a precision and `loops` otherwise.
/// The error says which there are, that only `interp` computes with a precision, or what is wrong
/// with the processor. What a search for schedules finds is added to `notes`, which must outlive
/// the engine.
runtime::Result<tensor::TensorEngine> engineOf(const RunOptions& options, std::string& notes);

/// What runs control flow as machine code, for an engine that does; else nothing.
std::function<vm::Runner(const vm::Program&)> runnersOf(const RunOptions& options);

} // namespace driver
