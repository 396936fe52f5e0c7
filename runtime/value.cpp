// Objects behind values, and their release.
#include "runtime/value.h"

#include "runtime/holdings.h"
#include "runtime/pool.h"

#include <new>

namespace runtime {

/// What a Value points to. A tensor stands in a TensorObject; every other kind is a Compound, whose
/// fields follow it in memory.
struct Object {
  union {
    uint64_t references = 1;
    /// When nothing refers to it any more: the next one to be freed.
    Object* nextDead;
  };
  ValueKind kind;
  uint32_t fieldCount = 0;

  static Value make(Object* object) { return Value(object); }
  static void retain(Object* object) { ++object->references; }
  static void release(Object* object);
  static Object* dropFields(Object* object, Object* dead);
};

namespace {

struct TensorObject : Object {
  Tensor tensor;
  std::shared_ptr<const void> exact;
  bool isWritable = false;
};

struct Compound : Object {
  Symbol symbol;

  Value* fields() { return reinterpret_cast<Value*>(this + 1); }
};

static_assert(sizeof(Compound) % alignof(Value) == 0);

thread_local Holdings holdings;

int64_t bytesOf(const Tensor& tensor) {
  return tensor.size() * int64_t(tensor.dtype().bytes());
}

size_t bytesOf(const Compound& object) {
  return sizeof(Compound) + object.fieldCount * sizeof(Value);
}

Value makeCompound(ValueKind kind, Symbol symbol, std::span<Value> fields) {
  void* memory = takeBlock(sizeof(Compound) + fields.size() * sizeof(Value));
  auto* object = new (memory) Compound{{{1}, kind, uint32_t(fields.size())}, symbol};
  for (size_t i = 0; i < fields.size(); ++i)
    new (object->fields() + i) Value(std::move(fields[i]));
  ++holdings.values;
  return Object::make(object);
}

void destroy(Object* object) {
  --holdings.values;
  if (object->kind != ValueKind::Tensor)
    return giveBlock(object, bytesOf(*static_cast<Compound*>(object)));
  auto* tensor = static_cast<TensorObject*>(object);
  holdings.tensorBytes -= bytesOf(tensor->tensor);
  tensor->~TensorObject();
  giveBlock(tensor, sizeof(TensorObject));
}

} // namespace

/// Takes the fields out of a dead object, and puts those that die with it in front of `dead`.
Object* Object::dropFields(Object* object, Object* dead) {
  for (uint32_t i = 0; i < object->fieldCount; ++i) {
    Object* inner = std::exchange(static_cast<Compound*>(object)->fields()[i].object_, nullptr);
    if (!inner || --inner->references > 0)
      continue;
    inner->nextDead = dead;
    dead = inner;
  }
  return dead;
}

/// Gives up one reference. Dead objects wait in a list that runs through themselves, so the depth
/// of a structure does not matter and nothing is allocated.
void Object::release(Object* object) {
  if (--object->references > 0)
    return;
  object->nextDead = nullptr;
  while (object) {
    Object* dead = dropFields(object, object->nextDead);
    destroy(object);
    object = dead;
  }
}

Value::Value(const Value& other) : object_(other.object_) {
  if (object_)
    Object::retain(object_);
}

Value::~Value() {
  if (object_)
    Object::release(object_);
}

bool Value::isShared() const {
  return object_->references > 1;
}

ValueKind Value::kind() const {
  return object_->kind;
}

const Tensor& Value::tensor() const {
  return static_cast<TensorObject*>(object_)->tensor;
}

const std::shared_ptr<const void>& Value::exact() const {
  return static_cast<TensorObject*>(object_)->exact;
}

std::span<const Value> Value::fields() const {
  if (object_->fieldCount == 0)
    return {};
  return {static_cast<Compound*>(object_)->fields(), object_->fieldCount};
}

const Symbol& Value::symbol() const {
  return static_cast<Compound*>(object_)->symbol;
}

const Value& Value::content() const {
  return static_cast<Compound*>(object_)->fields()[0];
}

void Value::setContent(Value content) const {
  static_cast<Compound*>(object_)->fields()[0] = std::move(content);
}

void Value::makeWritable() {
  static_cast<TensorObject*>(object_)->isWritable = true;
}

bool overwrite(const Value& destination, const Value& source) {
  if (destination.kind() != ValueKind::Tensor || source.kind() != ValueKind::Tensor)
    return false;
  auto* target = static_cast<TensorObject*>(destination.object_);
  const Tensor& tensor = source.tensor();
  if (!target->isWritable || target->tensor.dtype() != tensor.dtype() ||
      target->tensor.shape() != tensor.shape())
    return false;
  target->tensor = tensor;
  target->exact = source.exact();
  return true;
}

Holdings held() {
  return holdings;
}

Value tensorValue(Tensor tensor, std::shared_ptr<const void> exact) {
  int64_t bytes = bytesOf(tensor);
  void* memory = takeBlock(sizeof(TensorObject));
  auto* object =
      new (memory) TensorObject{{{1}, ValueKind::Tensor}, std::move(tensor), std::move(exact)};
  ++holdings.values;
  holdings.tensorBytes += bytes;
  return Object::make(object);
}

Value tupleValue(std::vector<Value> fields) {
  return makeCompound(ValueKind::Tuple, {}, fields);
}

Value referenceValue(Value content) {
  return makeCompound(ValueKind::Reference, {}, {&content, 1});
}

Value symbolValue(ValueKind kind, Symbol symbol, std::vector<Value> fields) {
  return makeCompound(kind, symbol, fields);
}

} // namespace runtime
