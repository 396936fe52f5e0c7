// The reference interpreter: what programs mean.
//
// interp/ evaluates the typed core IR: interpret.cpp is the machine, over its stack (stack.h), what
// it compares with types (comparisons.h) and what it may use (budget.h). What other machines need as
// well is in lang/: lang/ir/frames.h, what an activation looks like; lang/calls/boundary.h, what is
// compared with its type; lang/calls/call_sites.h, how an operator is applied. What evaluates
// tensor expressions is handed in; reference.h is the engine that says what they mean, sums
// included. The machine keeps its stack on the heap; neither the length of a program nor the depth
// of its recursion reaches the C++ stack.
#pragma once

#include "interp/observer.h"
#include "lang/calls/call_sites.h"
#include "lang/ir/module.h"
#include "runtime/run_fault.h"
#include "runtime/run_limits.h"
#include "runtime/shown.h"

#include <variant>

namespace interp {

using runtime::Value;
using runtime::ValueKind;

/// How to run.
struct Options {
  /// What evaluates the tensor expressions of operators.
  tensor::TensorEngine engine;
  /// Called now and then with the number of calls so far, of functions and operators.
  std::function<void(uint64_t)> progress = {};
  /// Told once of each operator whose results have fewer digits than the engine keeps.
  lang::CallSites::Rounding rounding = {};
  /// Told of the values that the program shows, and of the calls that do.
  std::function<void(const Value&, const runtime::Shown&)> show = {};
  /// Gives what stands for the value that an operator passes on, for tests that hold it fixed.
  std::function<Value(const lang::OperatorRow&, const Value&)> passed = {};
  /// Asked at every call; true ends the run.
  std::function<bool()> isInterrupted = {};
  /// Whether an operator that makes NaN or infinity of finite numbers ends the run.
  bool trapsNonFinite = false;
  /// Who watches the run, or null.
  const Observer* observer = nullptr;
  runtime::RunLimits limits = {};
};

using Fault = runtime::RunFault;

/// Calls a global of a checked module with as many arguments as it has parameters. Memory that runs
/// out is a fault; std::bad_alloc is thrown when there is not even enough to say so.
std::variant<Value, Fault> interpret(const lang::Module& module, const lang::Typing& typing,
                                     const lang::OperatorTable& operators,
                                     const lang::Global& entry, std::vector<Value> arguments,
                                     const Options& options);

} // namespace interp
