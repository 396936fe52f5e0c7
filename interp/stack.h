// The stack of a run, on the heap: activations of functions, and a cursor for each block in
// progress. It knows what is where, and nothing of what bindings mean.
#pragma once

#include "interp/observer.h"
#include "runtime/open_calls.h"

namespace interp {

class Stack {
public:
  using OpenCalls = runtime::OpenCalls<lang::SourceRange, 8>;

  /// Variables keep their values to the end of the call, or only while they are needed. The module
  /// must outlive this.
  Stack(const lang::Module& module, bool keepsValues)
      : frames_(module), liveness_(lang::findLiveness(module)), keepsValues_(keepsValues) {}

  State state() const { return {frames_, activations_, cursors_}; }
  bool isEmpty() const { return cursors_.empty(); }
  size_t depth() const { return activations_.size(); }

  /// The innermost call, and block; of a stack that is not empty.
  Activation& activation() { return activations_.back(); }
  Cursor& cursor() { return cursors_.back(); }
  /// The binding that the innermost block waits for; it has begun one.
  const lang::Binding& waiting() const;
  /// Whether the value of that binding is the value of the block.
  bool waitsForResult() const;

  /// The place of a variable of the innermost call.
  runtime::Value& slot(const lang::Var& var);
  /// What a closure of the function captures here. The function's own variable has no value yet;
  /// its empty place means "the closure itself" when the closure is called, so that recursion makes
  /// no cycle.
  std::vector<runtime::Value> captured(const lang::Function& function, const lang::Var& self);

  /// Begins a block of the innermost call.
  void open(const lang::Block& block, bool endsCall);
  /// Begins a call, and the body of the function.
  void enter(Activation activation, const runtime::Value& closure);
  void closeBlock() { cursors_.pop_back(); }
  void closeCall() { activations_.pop_back(); }
  void clear();

  /// Empties variables that nothing behind the binding at hand uses.
  void emptyDead();

  /// Takes no memory.
  OpenCalls openCalls() const;

private:
  lang::Frames frames_;
  lang::Liveness liveness_;
  bool keepsValues_;
  std::vector<Activation> activations_;
  std::vector<Cursor> cursors_;
};

} // namespace interp
