// Who watches a run of the interpreter, and what can be seen of it: open calls with their
// variables, and blocks in progress. Whoever watches sees values, and changes nothing.
#pragma once

#include "lang/calls/run_value.h"
#include "lang/ir/frames.h"
#include "lang/ir/liveness.h"
#include "runtime/checks/boundary.h"
#include "runtime/run_fault.h"

#include <functional>
#include <memory>

namespace interp {

/// One call in progress, and where it was made; the latter is invalid for the first call.
struct Activation {
  const lang::Function* function;
  /// By the slots of the function's frame layout; what has no value yet is not set.
  std::vector<runtime::Value> slots;
  lang::SourceRange call;
  /// How many calls of functions were made before.
  uint64_t number = 0;
  /// Of named dimensions, when the body needs them.
  std::unique_ptr<checks::KnownSizes> sizes = nullptr;
  /// The tensors that the results are written into, if the call says so.
  std::optional<runtime::Value> destinations = {};
};

/// A block in progress, which stands behind the binding that is being evaluated. With `endsCall`,
/// the end of the block is the end of the activation.
struct Cursor {
  const lang::Block* block;
  size_t next;
  bool endsCall;
  const lang::Deaths* deaths;
};

/// A run in between. Each activation has the cursors behind those of its caller, up to the next one
/// with `endsCall`.
struct State {
  const lang::Frames& frames;
  const std::vector<Activation>& activations;
  const std::vector<Cursor>& cursors;
};

/// What is told of a run; the innermost call is the last of the activations.
struct Observer {
  /// A call began; `isTail` if others ended by it.
  std::function<void(const State&, bool isTail)> entered = {};
  /// The innermost call is about to end with a value.
  std::function<void(const State&, const runtime::Value&)> left = {};
  /// A binding is about to be evaluated; false ends the run.
  std::function<bool(const State&, const lang::Binding&)> before = {};
  /// It has its value. A call in tail position gives its value to no binding.
  std::function<void(const State&, const lang::Binding&, const runtime::Value&)> bound = {};
  /// An operator was applied.
  std::function<void(const State&, const lang::Call&, const lang::OperatorRow&,
                     std::span<const runtime::Value> arguments, const runtime::Value& result)>
      applied = {};
  /// The run failed, and is still as it was then.
  std::function<void(const State&, const runtime::RunFault&)> failed = {};
  /// Whether variables keep their values to the end of the call, and not only while they are
  /// needed.
  bool keepsValues = false;
};

} // namespace interp
