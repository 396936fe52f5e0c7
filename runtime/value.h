// Values of programs: what expressions evaluate to, in every engine.
//
// A Value is a counted pointer to an immutable object; only reference cells are written after they
// are made, and tensors that were made to be written. Reference cells can form cycles, which are
// not collected. Releasing a value neither recurses nor allocates, however deep it is, so it works
// when memory has run out. The count is not atomic: a value belongs to one thread.
//
// What a constructor, function or operator is, is the language's business: here it is a Symbol.
#pragma once

#include "runtime/tensor.h"

#include <string_view>
#include <utility>

namespace runtime {

enum class ValueKind : uint8_t { Tensor, Tuple, Constructor, Closure, Reference, Operator, Maker };

/// A definition behind a value: where it is, which tells it from others, and its name for printing.
/// Both must outlive the value.
struct Symbol {
  const void* definition = nullptr;
  std::string_view name = {};
};

/// What a Value points to. A tensor stands in a TensorObject; every other kind has its fields
/// behind it in memory.
struct Object {
  union {
    uint64_t references = 1;
    /// When nothing refers to it any more: the next one to be freed.
    Object* nextDead;
  };
  ValueKind kind;
  uint32_t fieldCount = 0;
};

struct TensorObject : Object {
  Tensor tensor;
  std::shared_ptr<const void> exact;
  bool isWritable = false;
  /// Whether it lies in the room of its tensor's buffer, which nothing changes then.
  bool isInBuffer = false;

  static bool canLieInBuffer(const Tensor& tensor) { return tensor.buffer_.isOnly(); }
  static void* roomIn(const Tensor& tensor) { return tensor.buffer_.room(); }
  /// Takes the buffer out of the tensor.
  SharedBuffer takeBuffer() { return std::move(tensor.buffer_); }
};
static_assert(sizeof(TensorObject) <= Buffer::roomBytes);

/// A value; a default-made one is no value and stands for "not computed yet".
class Value {
public:
  Value() = default;
  Value(const Value& other) : object_(other.object_) {
    if (object_)
      ++object_->references;
  }
  Value(Value&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Value& operator=(Value other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Value() {
    if (object_ && --object_->references == 0)
      destroy(object_);
  }

  bool isSet() const { return object_ != nullptr; }
  /// Whether another Value refers to the same object.
  bool isShared() const { return object_->references > 1; }
  ValueKind kind() const { return object_->kind; }

  /// Of a Tensor.
  const Tensor& tensor() const { return static_cast<TensorObject*>(object_)->tensor; }
  /// Of a Tensor: what an engine keeps beside the elements, such as more digits of them, or null.
  const std::shared_ptr<const void>& exact() const {
    return static_cast<TensorObject*>(object_)->exact;
  }
  /// Of a Tuple or Constructor its fields, of a Closure what it captured.
  std::span<const Value> fields() const;
  /// Of a Constructor or Maker the constructor, of a Closure the function, of an Operator it.
  const Symbol& symbol() const;
  /// Of a Reference its content; the cell is shared by all copies of the value.
  const Value& content() const;
  void setContent(Value content) const;
  /// Of a Tensor that nobody shares: lets `overwrite` change it from here on.
  void makeWritable();
  /// Gives up a Tensor for the tensor, which is the only one of its elements if the value was.
  Tensor takeTensor();

private:
  friend struct MakeValue;
  friend bool overwrite(const Value& destination, const Value& source);
  explicit Value(Object* object) : object_(object) {}
  static Object* dropFields(Object* object, Object* dead);
  static void destroy(Object* object);

  Object* object_ = nullptr;
};

Value tensorValue(Tensor tensor, std::shared_ptr<const void> exact = nullptr);
/// Makes a tensor the elements of another of the same type, for all copies of the value; false, and
/// nothing is done, when it is none that may be written.
bool overwrite(const Value& destination, const Value& source);
Value tupleValue(std::vector<Value> fields);
Value referenceValue(Value content);
/// A Constructor, Closure, Operator or Maker: an operator that is used as a value, or a constructor
/// that is used as a function.
Value symbolValue(ValueKind kind, Symbol symbol, std::vector<Value> fields = {});

} // namespace runtime
