// Values of the interpreter: what expressions evaluate to.
//
// A Value is a counted pointer to an immutable object; only reference cells are written after they
// are made. Objects are freed by a loop, so a list of a million elements is freed like any other.
// Reference cells can form cycles, which are not collected.
#pragma once

#include "interp/array.h"
#include "lang/expr.h"

#include <vector>

namespace interp {

enum class ValueKind : uint8_t { Tensor, Tuple, Constructor, Closure, Reference, Operator, Maker };

struct Object;

/// A value; a default-made one is no value and stands for "not computed yet".
class Value {
public:
  Value() = default;
  explicit Value(Object* object) : object_(object) {}
  Value(const Value& other);
  Value(Value&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Value& operator=(Value other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Value();

  bool isSet() const { return object_ != nullptr; }
  ValueKind kind() const;

  /// Of a Tensor.
  const Array& tensor() const;
  /// Of a Tuple or Constructor its fields, of a Closure what it captured.
  std::span<const Value> fields() const;
  /// Of a Constructor the constructor, of a Maker the one that it applies.
  const lang::Constructor& constructor() const;
  /// Of a Closure.
  const lang::Function& function() const;
  /// Of an Operator.
  const lang::OperatorRow& op() const;
  /// Of a Reference its content; the cell is shared by all copies of the value.
  const Value& content() const;
  void setContent(Value content) const;

private:
  friend struct Object;
  Object* object_ = nullptr;
};

Value tensorValue(Array array);
Value tupleValue(std::vector<Value> fields);
Value constructorValue(const lang::Constructor& constructor, std::vector<Value> fields);
Value closureValue(const lang::Function& function, std::vector<Value> captured);
Value referenceValue(Value content);
/// An operator that is used as a value.
Value operatorValue(const lang::OperatorRow& row);
/// A constructor that is used as a function.
Value makerValue(const lang::Constructor& constructor);

} // namespace interp
