// Objects behind values, and their release.
#include "interp/value.h"

namespace interp {

/// What a Value points to; which members count depends on the kind.
struct Object {
  uint32_t references = 1;
  ValueKind kind;
  const void* what = nullptr;
  std::vector<Value> fields = {};
  Array array = {};

  /// Gives up one reference. Objects that die hand their fields to a list instead of freeing them
  /// in place, so the depth of a structure does not matter.
  static void release(Object* object) {
    if (--object->references > 0)
      return;
    if (object->fields.empty()) {
      delete object;
      return;
    }
    std::vector<Object*> dead{object};
    while (!dead.empty()) {
      Object* next = dead.back();
      dead.pop_back();
      for (Value& field : next->fields) {
        Object* inner = std::exchange(field.object_, nullptr);
        if (inner && --inner->references == 0)
          dead.push_back(inner);
      }
      delete next;
    }
  }

  static void retain(Object* object) { ++object->references; }
};

namespace {

Value make(ValueKind kind, const void* what, std::vector<Value> fields) {
  return Value(new Object{1, kind, what, std::move(fields), Array()});
}

} // namespace

Value::Value(const Value& other) : object_(other.object_) {
  if (object_)
    Object::retain(object_);
}

Value::~Value() {
  if (object_)
    Object::release(object_);
}

ValueKind Value::kind() const {
  return object_->kind;
}

const Array& Value::tensor() const {
  return object_->array;
}

std::span<const Value> Value::fields() const {
  return object_->fields;
}

const lang::Constructor& Value::constructor() const {
  return *static_cast<const lang::Constructor*>(object_->what);
}

const lang::Function& Value::function() const {
  return *static_cast<const lang::Function*>(object_->what);
}

const lang::OperatorRow& Value::op() const {
  return *static_cast<const lang::OperatorRow*>(object_->what);
}

const Value& Value::content() const {
  return object_->fields[0];
}

void Value::setContent(Value content) const {
  object_->fields[0] = std::move(content);
}

Value tensorValue(Array array) {
  return Value(new Object{1, ValueKind::Tensor, nullptr, {}, std::move(array)});
}

Value tupleValue(std::vector<Value> fields) {
  return make(ValueKind::Tuple, nullptr, std::move(fields));
}

Value constructorValue(const lang::Constructor& constructor, std::vector<Value> fields) {
  return make(ValueKind::Constructor, &constructor, std::move(fields));
}

Value closureValue(const lang::Function& function, std::vector<Value> captured) {
  return make(ValueKind::Closure, &function, std::move(captured));
}

Value referenceValue(Value content) {
  std::vector<Value> fields;
  fields.push_back(std::move(content));
  return make(ValueKind::Reference, nullptr, std::move(fields));
}

Value operatorValue(const lang::OperatorRow& row) {
  return make(ValueKind::Operator, &row, {});
}

Value makerValue(const lang::Constructor& constructor) {
  return make(ValueKind::Maker, &constructor, {});
}

} // namespace interp
