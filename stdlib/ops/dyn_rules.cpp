// Operands that give shapes, axes and counts.
#include "stdlib/ops/dyn_rules.h"

#include "stdlib/ops/common.h"
#include "stdlib/ops/shape_rules.h"
#include "stdlib/ops/simplify.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace stdlib {

using namespace lang;

bool isInteger(runtime::DType dtype) {
  return dtype.isInteger();
}

bool isCount(runtime::DType dtype) {
  return dtype.isInteger() || dtype.isFloat();
}

std::optional<RelationResult> requireInt64(const RelationCall& call, size_t i) {
  const runtime::Tensor* value = call.value(i);
  if (!value || !call.dtype(i).isInteger() || integerValues(*value))
    return std::nullopt;
  return call.failedAt(
      i, words("a number is too large: sizes and positions are those of `{}`", runtime::Int64));
}

std::optional<RelationResult> requireVector(const RelationCall& call, size_t i,
                                            bool (*isGood)(runtime::DType)) {
  // The literal `[]` of Baton's notation has the elements of a float.
  bool isEmpty = call.rank(i) == 1 && call.shape(i)[0]->isConstant(0) && call.sizesIn(i);
  bool good =
      isEmpty || (call.rank(i) == 1 && isGood(call.dtype(i)) && call.shape(i)[0]->isConstant() &&
                  call.shape(i)[0]->value <= int64_t(largestRank));
  if (good)
    return requireInt64(call, i);
  return call.failedAt(i, words("expected a vector of integers of a known length up to {}, but "
                                "it is `{}`",
                                largestRank, call.operands[i]));
}

size_t lengthOf(const RelationCall& call, size_t i) {
  return size_t(call.shape(i)[0]->value);
}

RelationResult noCount(const RelationCall& call, size_t i) {
  return call.failedAt(i, "what is to be a count is none, or too large a one");
}

RelationResult withCounts(const RelationCall& call, size_t i, RelationResult result) {
  if (call.dtype(i).isFloat())
    result.doubt = words("counts of type `{}` are rounded toward zero", call.operands[i]);
  return result;
}

std::optional<std::vector<int64_t>> knownIntegers(const RelationCall& call, size_t i) {
  if (const runtime::Tensor* value = call.value(i))
    return integerValues(*value);
  auto sizes = call.sizesIn(i);
  auto isNumber = [](const Dim* size) { return size->isConstant(); };
  return sizes && std::ranges::all_of(*sizes, isNumber) ? std::optional(extentsOf(*sizes))
                                                        : std::nullopt;
}

const Dim* knownSize(const RelationCall& call, size_t i) {
  auto sizes = call.sizesIn(i);
  bool isSize = sizes && sizes->size() == 1 && !sizes->front()->isAny();
  return isSize ? sizes->front() : nullptr;
}

RelationResult allAny(const RelationCall& call, size_t rank, runtime::DType dtype) {
  return call.solved(DimVector(rank, call.types.any()), dtype);
}

std::optional<DimVector> givenShape(const RelationCall& call, size_t i) {
  DimVector shape(lengthOf(call, i), call.types.any());
  if (auto sizes = call.sizesIn(i))
    shape.assign(sizes->begin(), sizes->end());
  if (auto extents = knownIntegers(call, i))
    for (size_t k = 0; k < shape.size(); ++k)
      shape[k] = call.types.constant((*extents)[k]);
  auto isNegative = [](const Dim* dim) { return dim->isConstant() && dim->value < 0; };
  return std::ranges::any_of(shape, isNegative) ? std::nullopt : std::optional(shape);
}

RelationResult negativeExtent(const RelationCall& call, size_t i) {
  if (auto extents = knownIntegers(call, i))
    return call.failedAt(
        i, fmt::format("the shape [{}] has a negative extent", fmt::join(*extents, ", ")));
  return call.failedAt(
      i, fmt::format("the shape `{}` has a negative extent", shapeText(*call.sizesIn(i))));
}

} // namespace stdlib
