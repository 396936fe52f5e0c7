// An explicit stack, one entry for each object that is not done.
#include "vm/machine/value.h"

#include "runtime/numbering.h"

#include <cstring>

namespace vm {

using runtime::Value;
using runtime::ValueKind;

namespace {

Value scalarValue(runtime::DType dtype, Slot slot) {
  runtime::Tensor tensor(dtype, {});
  std::memcpy(tensor.bytes(), &slot, dtype.bytes());
  return runtime::tensorValue(std::move(tensor));
}

/// Makes values of objects, one for each object however often it is met.
class ValueMaker {
public:
  /// Whether tensors are to be values of their own.
  ValueMaker(const Program& program, bool isOwn) : program_(program), isOwn_(isOwn) {}

  Value run(const Object* root) {
    start(root);
    while (!stack_.empty()) {
      Unfinished& top = stack_.back();
      const Layout& layout = program_.layouts[top.object->layout];
      size_t next = top.fields.size();
      if (next == layout.fields.size()) {
        Unfinished whole = std::move(top);
        stack_.pop_back();
        give(*whole.object, finished(layout, whole));
      } else if (Rep field = layout.fields[next]; field.isScalar()) {
        top.fields.push_back(scalarValue(field.dtype, top.object->fields()[next]));
      } else {
        start(top.object->fields()[next].object);
      }
    }
    return std::move(done_);
  }

private:
  /// An object whose fields are being made values, and the value of a cell, which may hold itself.
  struct Unfinished {
    const Object* object;
    std::vector<Value> fields = {};
    Value cell = {};
  };

  void start(const Object* object) {
    if (uint32_t known = known_.find(object); known != known_.none)
      return receive(values_[known]);
    if (object->layout == boxedLayout)
      return receiveTensor(*object);
    Unfinished unfinished{object};
    if (program_.layouts[object->layout].kind == LayoutKind::Cell) {
      unfinished.cell = runtime::referenceValue({});
      know(object, unfinished.cell);
    }
    stack_.push_back(std::move(unfinished));
  }

  void receiveTensor(const Object& object) {
    const Value& value = boxed(const_cast<Object&>(object));
    if (isOwn_)
      give(object, ownValue(value));
    else
      receive(value);
  }

  void give(const Object& object, Value value) {
    if (object.references > 1)
      know(&object, value);
    receive(std::move(value));
  }

  void know(const Object* object, Value value) {
    if (known_.add(object))
      values_.push_back(std::move(value));
  }

  void receive(Value value) {
    if (stack_.empty())
      done_ = std::move(value);
    else
      stack_.back().fields.push_back(std::move(value));
  }

  static Value finished(const Layout& layout, Unfinished& whole) {
    switch (layout.kind) {
    case LayoutKind::Tuple:
      return runtime::tupleValue(std::move(whole.fields));
    case LayoutKind::Cell:
      whole.cell.setContent(std::move(whole.fields[0]));
      return std::move(whole.cell);
    case LayoutKind::Data:
      return runtime::symbolValue(ValueKind::Constructor, layout.symbol, std::move(whole.fields));
    case LayoutKind::Maker:
      return runtime::symbolValue(ValueKind::Maker, layout.symbol);
    case LayoutKind::Operator:
      return runtime::symbolValue(ValueKind::Operator, layout.symbol);
    default:
      return runtime::symbolValue(ValueKind::Closure, layout.symbol, std::move(whole.fields));
    }
  }

  const Program& program_;
  const bool isOwn_;
  std::vector<Unfinished> stack_;
  /// Cells, and what more than one reference leads to, and the value of each.
  runtime::Numbering known_;
  std::vector<Value> values_;
  Value done_;
};

} // namespace

Value ownValue(const Value& value) {
  bool isPlain = value.kind() == ValueKind::Tensor && !value.exact();
  return isPlain ? runtime::tensorValue(runtime::Tensor(value.tensor())) : value;
}

Value toValue(const Program& program, Rep rep, Slot slot, bool isOwn) {
  return rep.isScalar() ? scalarValue(rep.dtype, slot)
                        : ValueMaker(program, isOwn).run(slot.object);
}

Value takeValue(const Program& program, Slot slot) {
  Object& object = *slot.object;
  bool isLast = object.layout == boxedLayout && object.references == 1;
  return isLast ? std::move(boxed(object)) : toValue(program, {Hold::Owned}, slot);
}

} // namespace vm
