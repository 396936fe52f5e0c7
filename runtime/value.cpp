// Objects behind values, and their release.
#include "runtime/value.h"

#include "runtime/holdings.h"
#include "runtime/memory.h"
#include "runtime/pool.h"

#include <new>

namespace runtime {

struct MakeValue {
  static Value of(Object* object) { return Value(object); }
};

namespace {

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
  return MakeValue::of(object);
}

void giveUp(Object* object) {
  --holdings.values;
  if (object->kind != ValueKind::Tensor)
    return giveBlock(object, bytesOf(*static_cast<Compound*>(object)));
  auto* tensor = static_cast<TensorObject*>(object);
  holdings.tensorBytes -= bytesOf(tensor->tensor);
  SharedBuffer buffer = tensor->takeBuffer();
  bool isInBuffer = tensor->isInBuffer;
  tensor->~TensorObject();
  if (!isInBuffer)
    giveBlock(tensor, sizeof(TensorObject));
}

Value makeTensor(void* memory, Tensor tensor, std::shared_ptr<const void> exact,
                 bool isInBuffer = false) {
  ++holdings.values;
  holdings.tensorBytes += bytesOf(tensor);
  return MakeValue::of(new (memory) TensorObject{
      {{1}, ValueKind::Tensor}, std::move(tensor), std::move(exact), false, isInBuffer});
}

} // namespace

/// Takes the fields out of a dead object, and puts those that die with it in front of `dead`.
Object* Value::dropFields(Object* object, Object* dead) {
  for (uint32_t i = 0; i < object->fieldCount; ++i) {
    Object* inner = std::exchange(static_cast<Compound*>(object)->fields()[i].object_, nullptr);
    if (!inner || --inner->references > 0)
      continue;
    inner->nextDead = dead;
    dead = inner;
  }
  return dead;
}

/// Releases an object that nothing refers to. Dead objects wait in a list that runs through
/// themselves, so the depth of a structure does not matter and nothing is allocated.
void Value::destroy(Object* object) {
  object->nextDead = nullptr;
  while (object) {
    Object* dead = dropFields(object, object->nextDead);
    giveUp(object);
    object = dead;
  }
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
  auto* tensor = static_cast<TensorObject*>(object_);
  if (tensor->isInBuffer)
    *this = makeTensor(takeBlock(sizeof(TensorObject)), tensor->tensor, tensor->exact);
  static_cast<TensorObject*>(object_)->isWritable = true;
}

Tensor Value::takeTensor() {
  Tensor taken = tensor();
  *this = Value();
  return taken;
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
  Holdings now = holdings;
  now.bytes = limitedMemory();
  return now;
}

Value tensorValue(Tensor tensor, std::shared_ptr<const void> exact) {
  bool isInBuffer = TensorObject::canLieInBuffer(tensor);
  void* memory = isInBuffer ? TensorObject::roomIn(tensor) : takeBlock(sizeof(TensorObject));
  return makeTensor(memory, std::move(tensor), std::move(exact), isInBuffer);
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
