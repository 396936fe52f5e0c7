// A cursor stands behind the binding that it waits for.
#include "interp/stack.h"

namespace interp {

using runtime::Value;

const lang::Binding& Stack::waiting() const {
  const Cursor& cursor = cursors_.back();
  return cursor.block->bindings[cursor.next - 1];
}

bool Stack::waitsForResult() const {
  const Cursor& cursor = cursors_.back();
  return cursor.next == cursor.block->bindings.size() &&
         cursor.block->result.value == waiting().var;
}

Value& Stack::slot(const lang::Var& var) {
  Activation& activation = activations_.back();
  return activation.slots[frames_.slot(*activation.function, var)];
}

std::vector<Value> Stack::captured(const lang::Function& function, const lang::Var& self) {
  std::vector<Value> captured;
  for (const lang::Var* var : frames_.layout(function).captures)
    captured.push_back(var == &self ? Value() : slot(*var));
  return captured;
}

void Stack::open(const lang::Block& block, bool endsCall) {
  auto found = liveness_.find(&block);
  cursors_.push_back({&block, 0, endsCall, found == liveness_.end() ? nullptr : &found->second});
}

void Stack::enter(Activation activation, const Value& closure) {
  const lang::Function& function = *activation.function;
  const lang::FrameLayout& layout = frames_.layout(function);
  activation.slots.resize(layout.size());
  for (size_t i = 0; i < layout.captures.size(); ++i) {
    const Value& captured = closure.fields()[i];
    activation.slots[layout.own.size() + i] = captured.isSet() ? captured : closure;
  }
  activations_.push_back(std::move(activation));
  open(*function.body, true);
}

void Stack::clear() {
  cursors_.clear();
  activations_.clear();
}

void Stack::emptyDead() {
  const Cursor& cursor = cursors_.back();
  if (!keepsValues_)
    for (const lang::Var* var : cursor.deaths->after(cursor.next - 1))
      slot(*var) = Value();
}

Stack::OpenCalls Stack::openCalls() const {
  OpenCalls open;
  for (size_t i = activations_.size(); i-- > 0;)
    if (activations_[i].call.isValid())
      open.add(activations_[i].call);
  return open;
}

} // namespace interp
