// The reference interpreter: what programs mean.
//
// interp/ evaluates the typed core IR: interpret.cpp is the machine, frames.h what an activation
// looks like, operators.h how an operator is applied. What evaluates tensor expressions is handed
// in; reference.h is the engine that says what they mean, sums included. The machine keeps its
// stack on the heap; neither the length of a program nor the depth of its recursion reaches the C++
// stack.
#pragma once

#include "interp/value.h"
#include "lang/diagnostic.h"
#include "lang/module.h"
#include "lang/op.h"
#include "lang/tensor_engine.h"
#include "lang/typing.h"
#include "runtime/fault.h"

#include <functional>
#include <variant>

namespace interp {

/// How to run.
struct Options {
  /// What evaluates the tensor expressions of operators.
  lang::TensorEngine engine;
  /// Called now and then with the number of calls so far, of functions and operators.
  std::function<void(uint64_t)> progress = {};
  /// Calls that may be open at once; a program that recurses deeper is faulty.
  size_t maximumDepth = 5'000'000;
};

/// Why a program could not go on, where, and through which calls it got there, innermost first.
struct Fault {
  runtime::FaultKind kind;
  std::string problem;
  lang::SourceRange range;
  std::vector<lang::SourceRange> calls = {};
  /// The operator that could not be applied, or null.
  const lang::OperatorRow* row = nullptr;
  std::vector<lang::Label> labels = {};
  std::vector<std::string> notes = {};
  lang::ShapeTable shapes = {};
};

/// Calls a global of a checked module with as many arguments as it has parameters. Memory that runs
/// out is a fault; std::bad_alloc is thrown when there is not even enough to say so.
std::variant<Value, Fault> interpret(const lang::Module& module, const lang::Typing& typing,
                                     const lang::OperatorTable& operators,
                                     const lang::Global& entry, std::vector<Value> arguments,
                                     const Options& options);

} // namespace interp
