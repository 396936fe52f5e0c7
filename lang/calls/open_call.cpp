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

OpenCall::OpenCall(const OperatorRow& row, std::vector<const Type*> operands, const Type* output,
                   const Attributes& attributes)
    : row_(row), operands_(std::move(operands)), output_(output), attributes_(attributes) {
  for (const Type* operand : operands_)
    appendTensors(operand, inputs_);
  appendTensors(output, results_);
  isClosed_ = areClosed(inputs_) && areClosed(results_);
  auto found = isClosed_ ? std::nullopt : shapesOf(row, operands_, attributes_, results_);
  areResultsTold_ = isClosed_ || found;
  shapes_ = found ? *std::move(found) : shapesOf(operands_, results_);
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

std::optional<std::vector<Shape>> OpenCall::resultShapes(std::span<const Shape> inputs) {
  if (row_.shapeNeeds != ShapeNeeds::Shapes || !areResultsTold_)
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

std::optional<TensorFunction> OpenCall::function(std::span<const Shape> inputs,
                                                 std::span<const Shape> results) {
  std::vector<int64_t> extents;
  append(inputs, extents);
  append(results, extents);
  if (!haveRanks(results_, results) || !checks::fits(shapes_, extents))
    return std::nullopt;
  if (!function_ && !isFormOpen_) {
    auto function = tensorFunctionOf(row_, operands_, output_, attributes_);
    isFormOpen_ = !function;
    if (function && isClosed_)
      return *std::move(function);
    if (function)
      function_ = *std::move(function);
  }
  return function_ ? std::optional(tensor::bound(*function_, inputs, results)) : std::nullopt;
}

} // namespace lang
