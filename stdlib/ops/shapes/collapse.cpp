// The sums that undo a broadcast.
//
// A dimension is summed when the target lacks it or has extent 1 there and the data has not.
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/simplify.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using runtime::Checked;
using runtime::Problem;

namespace {

using namespace lang;

RelationResult collapseLikeRelation(const RelationCall& call) {
  if (auto problem = requireSameDType(call, 0, 1))
    return *problem;
  if (!broadcastsTo(call, call.shape(1), call.shape(0)))
    return call.failedAt(1, fmt::format("the shape `{}` does not broadcast to that of the data, "
                                        "`{}`",
                                        shapeText(call.shape(1)), shapeText(call.shape(0))));
  return call.solved(call.operands[1]);
}

/// The target shape of collapse_sum_to: from the attribute, from the value of the operand, or `?`
/// per element of the operand.
Checked<std::vector<const Dim*>> collapseTarget(const RelationCall& call) {
  Problem badExtent{"`shape` holds an extent that is negative or too large"};
  if (!call.attributes.isNull("shape")) {
    auto shape = shapeAttribute(call, "shape");
    if (!shape)
      return badExtent;
    return *shape;
  }
  std::vector<const Dim*> target;
  if (const runtime::Tensor* value = call.value(1)) {
    auto extents = integerValues(*value);
    if (!extents || std::ranges::any_of(*extents, [](int64_t extent) { return extent < 0; }))
      return badExtent;
    for (int64_t extent : *extents)
      target.push_back(call.types.constant(extent));
    return target;
  }
  const Dim* length = call.shape(1)[0];
  if (!length->isConstant() || length->value > int64_t(call.rank(0)))
    return Problem{
        fmt::format("`shape` must have a known length of at most {}, the rank of the data, "
                    "but its length is {}",
                    call.rank(0), dimText(length))};
  target.assign(size_t(length->value), call.types.any());
  return target;
}

RelationResult collapseToRelation(const RelationCall& call) {
  if (call.rank(1) != 1 || !call.dtype(1).isInteger())
    return call.failedAt(
        1, words("`shape` must be an integer vector, but it is `{}`", call.operands[1]));
  auto target = collapseTarget(call);
  if (!target)
    return call.failedAt(1, target.failure());
  if (!broadcastsTo(call, *target, call.shape(0)))
    return call.failedAt(1, fmt::format("the shape `{}` does not broadcast to that of the data, "
                                        "`{}`",
                                        shapeText(Dims(*target)), shapeText(call.shape(0))));
  return call.solved(*target, call.dtype(0));
}

void collapse(ComputeCall& call) {
  TensorHandle data = call.input(0);
  Extents target = call.outputShape();
  size_t offset = data.rank() - target.size();
  // Along each dimension as many elements as broadcasting makes of one.
  Extents repeats = data.shape();
  for (size_t i = offset; i < data.rank(); ++i)
    repeats[i] = surelyEqual(target[i - offset], data.extent(i))
                     ? call.integer(1)
                     : select(target[i - offset] == 1.0, data.extent(i), call.integer(1));
  call.result([&](const Position& at) {
    return call.sumOver(repeats, [&](Position element) {
      for (size_t i = offset; i < data.rank(); ++i)
        element[i] =
            broadcastIndex(at[i - offset], data.extent(i), target[i - offset]) + element[i];
      return data(element);
    });
  });
}

constexpr OperandRow collapseLikeOperands[] = {
    {"data", "the tensor to sum"},
    {"collapse_type", "a tensor of the wanted shape, which must broadcast to that of the data"},
};
constexpr OperandRow collapseToOperands[] = {
    {"data", "the tensor to sum"},
    {"shape", "the wanted shape, an integer vector; it must broadcast to that of the data"},
};

constexpr AttributeRow collapseToAttributes[] = {
    {"shape", AttributeKind::IntList, "None",
     "the wanted shape where it is known; else the operand decides", true},
    {"dtype", AttributeKind::DType, "\"\"", "not used"},
};

constexpr Example collapseLikeExamples[] = {
    {"collapse_sum_like([[1f, 2f], [3f, 4f]], [[0f], [0f]])", "[[3f], [7f]]"}};
constexpr Example collapseToExamples[] = {
    {"collapse_sum_to([[1f, 2f], [3f, 4f]], [2])", "[4f, 6f]"}};

void collapseGradient(GradientCall& d) {
  give(d, 0, broadcastLike(d.cotangent(), d.operand(0)));
}

/// A sum over leading dimensions alone, or over dimensions of the target that are 1. Both together
/// would be two sums, which are rounded twice. Truth values wrap here, but `sum` takes any of them.
void simplifyCollapse(SimplifyCall& s) {
  if (becomesSameShape(s) || becomesZeros(s) || s.resultType()->dtype == runtime::Bool)
    return;
  Term data = s.operand(0);
  Dims shape = s.resultType()->shape;
  size_t offset = data.rank() - shape.size();
  std::vector<size_t> leading, repeated;
  for (size_t i = 0; i < data.rank(); ++i)
    if (i < offset)
      leading.push_back(i);
    else if (matchDims(data.dim(i), shape[i - offset]) != DimMatch::Same) {
      if (!shape[i - offset]->isConstant(1))
        return;
      repeated.push_back(i);
    }
  if (leading.empty() || repeated.empty())
    s.becomesIfTyped(leading.empty() ? sum(data, repeated, true) : sum(data, leading));
}

constexpr SimplifyExample collapseLikeSimpler[] = {
    {"collapse_sum_like(%n, %n)", "%n"},
    {"collapse_sum_like(%t, %x)", "sum(%t, axis=[0])"},
    {"collapse_sum_like(%x, [[1f, 2f, 3f]])", "sum(%x, axis=[0], keepdims=True)"}};
constexpr SimplifyExample collapseToSimpler[] = {
    {"collapse_sum_to(%x, [2, 3], shape=[2, 3])", "%x"}};

constexpr OperatorRow rows[] = {
    {.name = "collapse_sum_like",
     .doc = "The sum over the axes along which broadcasting would repeat another tensor.",
     .details = "This is the transpose of broadcasting.",
     .operands = collapseLikeOperands,
     .relation = collapseLikeRelation,
     .compute = collapse,
     .gradient = GradientRule{collapseGradient},
     .simplify = {simplifyCollapse, collapseLikeSimpler},
     .examples = collapseLikeExamples},
    {.name = "collapse_sum_to",
     .synonyms = "sum_to_size",
     .doc =
         "The sum over the axes along which broadcasting would repeat a tensor of a given shape.",
     .details = "As `collapse_sum_like`, with the shape as a vector.",
     .operands = collapseToOperands,
     .attributes = collapseToAttributes,
     .attributesKey = "relay.attrs.InitOpAttrs",
     .relation = collapseToRelation,
     .compute = collapse,
     .gradient = GradientRule{collapseGradient},
     .simplify = {simplifyCollapse, collapseToSimpler},
     .examples = collapseToExamples,
     .shapeNeeds = ShapeNeeds::Values,
     .unregisteredAttributes = true},
};

} // namespace

lang::OperatorFamily collapseFamily() {
  return rows;
}

} // namespace stdlib
