// Recursion follows the types of operands, which nest a level or two.
#include "lang/op/leaves.h"

#include <algorithm>

namespace lang {

using runtime::Value;

namespace {

bool appendTensors(const Value& value, std::vector<Value>& tensors, size_t levels) {
  if (value.kind() == runtime::ValueKind::Tensor) {
    tensors.push_back(value);
    return true;
  }
  return value.kind() == runtime::ValueKind::Tuple && levels > 0 &&
         std::ranges::all_of(value.fields(), [&](const Value& field) {
           return appendTensors(field, tensors, levels - 1);
         });
}

Value assemble(const Type* type, std::vector<Value>& tensors, size_t& next) {
  if (!type->isTuple())
    return std::move(tensors[next++]);
  std::vector<Value> fields;
  for (const Type* part : type->parts)
    fields.push_back(assemble(part, tensors, next));
  return runtime::tupleValue(std::move(fields));
}

} // namespace

bool appendTensors(const Type* type, std::vector<const Type*>& tensors) {
  if (type->isTensor()) {
    tensors.push_back(type);
    return true;
  }
  return type->isTuple() && std::ranges::all_of(type->parts, [&](const Type* part) {
           return appendTensors(part, tensors);
         });
}

bool appendTensors(const Value& value, std::vector<Value>& tensors) {
  constexpr size_t mostLevels = 4;
  return appendTensors(value, tensors, mostLevels);
}

size_t tensorCount(const Type* type) {
  std::vector<const Type*> tensors;
  appendTensors(type, tensors);
  return tensors.size();
}

Value assemble(const Type* type, std::vector<Value> tensors) {
  size_t next = 0;
  return assemble(type, tensors, next);
}

runtime::Shape shapeOf(const Type* tensor) {
  runtime::Shape shape;
  for (const Dim* dim : tensor->shape)
    shape.push_back(dim->isConstant() ? dim->value : -1);
  return shape;
}

} // namespace lang
