// Extents stand in one row: those of the operands, then those of the results.
#include "lang/calls/open_call.h"

#include "lang/op/op.h"
#include "lang/op/shapes_of.h"
#include "lower/tensor/bind.h"

#include <algorithm>

namespace lang {

using runtime::Shape;
using runtime::Value;

namespace {

void append(std::span<const Shape> shapes, std::vector<int64_t>& extents) {
  for (const Shape& shape : shapes)
    extents.insert(extents.end(), shape.begin(), shape.end());
}

bool haveRanks(Types types, std::span<const Shape> shapes) {
  return std::ranges::equal(types, shapes, [](const Type* type, const Shape& shape) {
    return type->shape.size() == shape.size();
  });
}

std::vector<Shape> declaredShapes(Types tensors) {
  std::vector<Shape> shapes;
  for (const Type* tensor : tensors)
    shapes.push_back(shapeOf(tensor));
  return shapes;
}

} // namespace

bool areClosed(Types tensors) {
  return std::ranges::all_of(tensors, [](const Type* type) {
    return std::ranges::all_of(type->shape, [](const Dim* dim) { return dim->isConstant(); });
  });
}

bool OpenCall::isPossible(Types operands, const Type* output) {
  std::vector<const Type*> tensors;
  return output && appendTensors(output, tensors) &&
         std::ranges::all_of(operands, [&](const Type* operand) {
           return operand && appendTensors(operand, tensors);
         });
}

bool OpenCallKey::operator==(const OpenCallKey& other) const {
  return row == other.row && operands == other.operands && output == other.output &&
         std::ranges::equal(attributes.values, other.attributes.values);
}

size_t OpenCallKey::hash() const {
  size_t hash = reinterpret_cast<size_t>(row) * 31 + reinterpret_cast<size_t>(output);
  for (const Type* operand : operands)
    hash = hash * 31 + reinterpret_cast<size_t>(operand);
  return hash;
}

OpenCall::OpenCall(OpenCallKey of, const tensor::MakeKernel& makeKernel) : key(std::move(of)) {
  for (const Type* operand : key.operands)
    appendTensors(operand, inputs_);
  appendTensors(key.output, results_);
  bool isClosed = areClosed(inputs_) && areClosed(results_);
  auto found = isClosed ? std::nullopt : shapesOf(*key.row, key.operands, key.attributes, results_);
  areResultsTold_ = isClosed || found;
  shapes_ = found ? *std::move(found) : shapesOf(key.operands, results_);
  if (!key.row->compute)
    return;
  auto function = tensorFunctionOf(*key.row, key.operands, key.output, key.attributes);
  if (function && makeKernel)
    kernel_ = std::make_shared<tensor::OwnedKernel>(*std::move(function), makeKernel);
  else if (function)
    function_ = *std::move(function);
}

bool OpenCall::takes(std::span<const Value> inputs) const {
  bool isLike = std::ranges::equal(inputs_, inputs, [](const Type* type, const Value& value) {
    return type->dtype == value.tensor().dtype() && type->shape.size() == value.tensor().rank();
  });
  if (!isLike)
    return false;
  std::vector<int64_t> extents;
  for (const Value& input : inputs)
    append({&input.tensor().shape(), 1}, extents);
  return checks::takes(shapes_, extents);
}

std::optional<std::vector<Shape>> OpenCall::resultShapes(std::span<const Shape> inputs) const {
  if (key.row->shapeNeeds != ShapeNeeds::Shapes || !areResultsTold_)
    return std::nullopt;
  std::vector<Shape> shapes = declaredShapes(results_);
  std::vector<int64_t> extents, results;
  append(inputs, extents);
  append(shapes, results);
  if (!checks::findResults(shapes_, extents, results))
    return std::nullopt;
  auto next = results.begin();
  for (Shape& shape : shapes)
    for (int64_t& extent : shape)
      extent = *next++;
  return shapes;
}

bool OpenCall::gives(std::span<const Shape> inputs, std::span<const Shape> results) const {
  std::vector<int64_t> extents;
  append(inputs, extents);
  append(results, extents);
  return haveRanks(results_, results) && checks::fits(shapes_, extents);
}

std::optional<TensorFunction> OpenCall::function(std::span<const Shape> inputs,
                                                 std::span<const Shape> results) const {
  if (!function_)
    return std::nullopt;
  std::vector<int64_t> extents;
  append(inputs, extents);
  append(results, extents);
  return tensor::closed(*function_, extents);
}

size_t OpenCall::bytes() const {
  return sizeof *this + (kernel_ ? kernel_->bytes() : 0) +
         (function_ ? function_->arena->reserved() : 0);
}

} // namespace lang
