// Pools with windows of a fixed size that slide over one, two or three spatial dimensions, and
// their gradients.
//
// With `ceil_mode` the last window may begin in the padding after the data, even past it; such a
// window averages to 0 and has the least value as its maximum.
#include "stdlib/ops/conv/conv_fixes.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/pool/pool_call.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stdlib {

using namespace lang;

RelationResult relatePool(const RelationCall& call, size_t dims, size_t operand) {
  auto layouts = readPoolLayouts(call.attributes, dims);
  if (!layouts)
    return call.failed(layouts.failure());
  auto window = readWindow(call.attributes, dims);
  if (!window)
    return call.failed(window.failure());
  auto taps = readNumbers(call.attributes, "pool_size", dims, 1);
  if (!taps)
    return call.failed(taps.failure());
  if (auto other = requirePoolRank(call, operand, layouts->data))
    return *other;
  std::vector<const Dim*> spatial;
  for (size_t i = 0; i < dims; ++i) {
    size_t dim = *layouts->data.find(spatialAxes(dims)[i]);
    const Dim* extent = call.shape(operand)[dim];
    auto positions = windowExtent(call, extent, call.types.constant((*taps)[i]), *window, i,
                                  call.attributes.boolean("ceil_mode"));
    if (!positions)
      return call.failedOn({{operand, dim}}, fmt::format("along `{}`, {}", spatialAxes(dims)[i],
                                                         positions.failure().text));
    spatial.push_back(*positions);
  }
  RelationResult result = solvedPool(call, operand, *layouts, spatial);
  for (size_t i = 0; i < dims; ++i)
    requireWindow(result, call, call.shape(operand)[*layouts->data.find(spatialAxes(dims)[i])],
                  call.types.constant((*taps)[i]), *window, i);
  return result;
}

Pool slidingPool(ComputeCall& call, size_t dims, PoolKind kind, const Extents& data) {
  const Attributes& attributes = call.attributes();
  PoolLayouts layouts = *readPoolLayouts(attributes, dims);
  Window window = *readWindow(attributes, dims);
  std::vector<int64_t> taps = attributes.integers("pool_size");
  bool includePad = kind == PoolKind::Average && attributes.boolean("count_include_pad");
  Pool pool{kind, {}, layouts.data, layouts.result};
  for (size_t i = 0; i < dims; ++i) {
    size_t dim = *layouts.data.find(spatialAxes(dims)[i]);
    pool.dims.push_back(slidingDim(call, window, i, taps[i], data[dim], includePad,
                                   attributes.boolean("ceil_mode")));
    pool.dims.back().dim = dim;
  }
  return pool;
}

namespace {

template <size_t dims>
RelationResult relate(const RelationCall& call) {
  return relatePool(call, dims, 0);
}

template <size_t dims>
Fixes fix(const RelationCall& call) {
  return poolFix(call, relate<dims>, dims);
}

template <size_t dims>
RelationResult relateGradient(const RelationCall& call) {
  return solvedPoolGradient(call, relatePool(call, dims, 1));
}

template <size_t dims>
RelationResult relateTaken(const RelationCall& call) {
  return solvedPoolTaken(call, relatePool(call, dims, 1));
}

/// The pool of operand `operand`.
Pool poolOf(ComputeCall& call, size_t dims, PoolKind kind, size_t operand) {
  return slidingPool(call, dims, kind, call.input(operand).shape());
}

template <size_t dims, PoolKind kind>
void compute(ComputeCall& call) {
  poolResult(call, poolOf(call, dims, kind, 0));
}

template <size_t dims, PoolKind kind>
void computeGradient(ComputeCall& call) {
  poolGradientResult(call, poolOf(call, dims, kind, 1));
}

template <size_t dims>
void computeTaken(ComputeCall& call) {
  poolTakenResult(call, poolOf(call, dims, PoolKind::Maximum, 1));
}

template <size_t dims, PoolKind kind>
void gradient(GradientCall& d) {
  constexpr std::string_view name = kind == PoolKind::Average ? "avg" : "max";
  give(d, 0,
       d.call(fmt::format("nn.{}_pool{}d_grad", name, dims), {d.cotangent(), d.operand(0)},
              sameAttributes(d)));
}

template <size_t dims>
void gradientOfGradient(GradientCall& d) {
  Term pooled = d.call(fmt::format("nn.avg_pool{}d", dims), {d.cotangent()}, sameAttributes(d));
  give(d, 0, castTo(pooled, d.operand(0).dtype()));
}

/// Both are linear in operand 0 and adjoint to each other, and constant almost everywhere in the
/// data that says where the greatest elements are.
template <size_t dims, bool isTaken>
void maximumSecondGradient(GradientCall& d) {
  std::string_view other = isTaken ? "grad" : "take";
  Term moved = d.call(fmt::format("nn.max_pool{}d_{}", dims, other), {d.cotangent(), d.operand(1)},
                      sameAttributes(d));
  give(d, 0, castTo(moved, d.operand(0).dtype()));
}

constexpr OperandRow operands[] = {{"data", "the tensor that the window slides over"}};
constexpr OperandRow gradientOperands[] = {
    {"out_grad", "the gradient by the result of the pool"},
    {"data", "the data of the pool"},
};

constexpr auto max1d = slidingPoolAttributes<7>(1), max2d = slidingPoolAttributes<7>(2),
               max3d = slidingPoolAttributes<7>(3);
constexpr auto avg1d = slidingPoolAttributes<8>(1), avg2d = slidingPoolAttributes<8>(2),
               avg3d = slidingPoolAttributes<8>(3);

constexpr std::string_view maxDetails =
    "Padding never wins: it counts as the least value of the type. The extents are (extent + "
    "padding - ((pool_size - 1) * dilation + 1)) / stride + 1, rounded down, or up with "
    "`ceil_mode`.";
constexpr std::string_view avgDetails =
    "The sum of a window over the number of its elements inside the data or, with "
    "`count_include_pad`, inside the padded data; what `ceil_mode` lets run past the padding is "
    "never counted. A window without elements gives 0. Sums are taken in the type of the data; "
    "integer averages truncate toward zero. The extents are as for nn.max_pool2d.";
constexpr std::string_view maxGradientDetails =
    "Of equal elements in a window the first one, in row-major order, gets its gradient; where "
    "windows overlap, gradients add up.";
constexpr std::string_view avgGradientDetails =
    "Each element of a window gets the window's gradient over the count that the average was "
    "divided by; where windows overlap, gradients add up.";
constexpr std::string_view takenDetails =
    "Of equal greatest elements in a window the first one, in row-major order, counts. This is the "
    "adjoint of the gradient of the pool.";

constexpr OperandRow takenOperands[] = {
    {"values", "the tensor to take elements of, in the shape of the data"},
    {"data", "the data of the pool"},
};

constexpr Example max1dExamples[] = {
    {"nn.max_pool1d([[[1f, 3f, 2f]]], pool_size=[2])", "[[[3f, 3f]]]"}};
constexpr Example max2dExamples[] = {
    {"nn.max_pool2d([[[[1f, 3f], [4f, 2f]]]], pool_size=[2, 2])", "[[[[4f]]]]"},
    {"nn.max_pool2d([[[[-1f, -3f, -2f]]]], pool_size=[1, 2], strides=[1, 2], ceil_mode=True)",
     "[[[[-1f, -2f]]]]"}};
constexpr Example max3dExamples[] = {
    {"nn.max_pool3d([[[[[1f, 3f]], [[4f, 2f]]]]], pool_size=[2, 1, 1])", "[[[[[4f, 3f]]]]]"}};
constexpr Example avg1dExamples[] = {
    {"nn.avg_pool1d([[[1f, 3f, 2f]]], pool_size=[2])", "[[[2f, 2.5f]]]"}};
constexpr Example avg2dExamples[] = {
    {"nn.avg_pool2d([[[[2f, 4f]]]], pool_size=[1, 2], padding=[0, 1])", "[[[[2f, 3f, 4f]]]]"},
    {"nn.avg_pool2d([[[[2f, 4f]]]], pool_size=[1, 2], padding=[0, 1], count_include_pad=True)",
     "[[[[1f, 3f, 2f]]]]"},
    {"nn.avg_pool2d([[[[-2, -3]]]], pool_size=[1, 2])", "[[[[-2]]]]"}};
constexpr Example avg3dExamples[] = {
    {"nn.avg_pool3d([[[[[1f, 3f]], [[4f, 2f]]]]], pool_size=[2, 1, 2])", "[[[[[2.5f]]]]]"}};
constexpr Example max1dGradientExamples[] = {
    {"nn.max_pool1d_grad([[[10f, 20f]]], [[[1f, 3f, 2f]]], pool_size=[2])", "[[[0f, 30f, 0f]]]"}};
constexpr Example max2dGradientExamples[] = {
    {"nn.max_pool2d_grad([[[[10f]]]], [[[[1f, 3f], [3f, 2f]]]], pool_size=[2, 2])",
     "[[[[0f, 10f], [0f, 0f]]]]"},
    {"nn.max_pool2d_grad([[[[10f]]]], [[[[1f, 3f], [3f, 2f]]]], pool_size=[2, 2], dilation=[])",
     "[[[[0f, 10f], [0f, 0f]]]]"}};
constexpr Example max3dGradientExamples[] = {
    {"nn.max_pool3d_grad([[[[[10f]]]]], [[[[[1f, 3f]]]]], pool_size=[1, 1, 2])",
     "[[[[[0f, 10f]]]]]"}};
constexpr Example max1dTakenExamples[] = {
    {"nn.max_pool1d_take([[[7f, 8f, 9f]]], [[[1f, 5f, 2f]]], pool_size=[2])", "[[[8f, 8f]]]"}};
constexpr Example max2dTakenExamples[] = {
    {"nn.max_pool2d_take([[[[6f, 7f], [8f, 9f]]]], [[[[1f, 5f], [3f, 2f]]]], pool_size=[2, 2])",
     "[[[[7f]]]]"}};
constexpr Example max3dTakenExamples[] = {
    {"nn.max_pool3d_take([[[[[6f, 7f]]]]], [[[[[1f, 5f]]]]], pool_size=[1, 1, 2])",
     "[[[[[7f]]]]]"}};
constexpr Example avg1dGradientExamples[] = {
    {"nn.avg_pool1d_grad([[[10f, 20f]]], [[[1f, 3f, 2f]]], pool_size=[2])", "[[[5f, 15f, 10f]]]"}};
constexpr Example avg2dGradientExamples[] = {
    {"nn.avg_pool2d_grad([[[[8f]]]], [[[[1f, 3f], [3f, 2f]]]], pool_size=[2, 2])",
     "[[[[2f, 2f], [2f, 2f]]]]"}};
constexpr Example avg3dGradientExamples[] = {
    {"nn.avg_pool3d_grad([[[[[10f]]]]], [[[[[1f, 3f]]]]], pool_size=[1, 1, 2])",
     "[[[[[5f, 5f]]]]]"}};

/// The parts of a row that the tables below write.
struct Written {
  std::string_view name, doc, attributesKey;
  std::span<const AttributeRow> attributes;
  std::span<const Example> examples;
};

/// The parts that follow from the kind of pool.
struct Functions {
  std::string_view details;
  std::span<const OperandRow> operands;
  RelationResult (*relation)(const RelationCall& call);
  void (*compute)(ComputeCall& call);
  Gradient gradient;
};

constexpr OperatorRow rowOf(const Written& written, const Functions& functions) {
  return {
      .name = written.name,
      .doc = written.doc,
      .details = functions.details,
      .operands = functions.operands,
      .attributes = written.attributes,
      .attributesKey = written.attributesKey,
      .relation = functions.relation,
      .compute = functions.compute,
      .gradient = functions.gradient,
      .examples = written.examples,
  };
}

template <size_t dims, PoolKind kind>
constexpr OperatorRow poolRow(const Written& written) {
  return rowOf(written, {kind == PoolKind::Maximum ? maxDetails : avgDetails, operands,
                         withFix<relate<dims>, fix<dims>>, compute<dims, kind>,
                         GradientRule{gradient<dims, kind>}});
}

template <size_t dims, PoolKind kind>
constexpr OperatorRow gradientRow(const Written& written) {
  constexpr auto rule = [] {
    if constexpr (kind == PoolKind::Maximum)
      return GradientRule{maximumSecondGradient<dims, false>};
    else
      return GradientRule{gradientOfGradient<dims>};
  };
  return rowOf(written,
               {kind == PoolKind::Maximum ? maxGradientDetails : avgGradientDetails,
                gradientOperands, relateGradient<dims>, computeGradient<dims, kind>, rule()});
}

template <size_t dims>
constexpr OperatorRow takenRow(const Written& written) {
  return rowOf(written, {takenDetails, takenOperands, relateTaken<dims>, computeTaken<dims>,
                         GradientRule{maximumSecondGradient<dims, true>}});
}

using enum PoolKind;

constexpr OperatorRow rows[] = {
    poolRow<1, Maximum>({"nn.max_pool1d", "The greatest element of each window of a sequence.",
                         "relay.attrs.MaxPool1DAttrs", max1d, max1dExamples}),
    poolRow<2, Maximum>({"nn.max_pool2d", "The greatest element of each window of a picture.",
                         "relay.attrs.MaxPool2DAttrs", max2d, max2dExamples}),
    poolRow<3, Maximum>({"nn.max_pool3d", "The greatest element of each window of a volume.",
                         "relay.attrs.MaxPool3DAttrs", max3d, max3dExamples}),
    poolRow<1, Average>({"nn.avg_pool1d", "The average of each window of a sequence.",
                         "relay.attrs.AvgPool1DAttrs", avg1d, avg1dExamples}),
    poolRow<2, Average>({"nn.avg_pool2d", "The average of each window of a picture.",
                         "relay.attrs.AvgPool2DAttrs", avg2d, avg2dExamples}),
    poolRow<3, Average>({"nn.avg_pool3d", "The average of each window of a volume.",
                         "relay.attrs.AvgPool3DAttrs", avg3d, avg3dExamples}),
    gradientRow<1, Maximum>({"nn.max_pool1d_grad", "The gradient of nn.max_pool1d by its data.",
                             "relay.attrs.MaxPool1DAttrs", max1d, max1dGradientExamples}),
    gradientRow<2, Maximum>({"nn.max_pool2d_grad", "The gradient of nn.max_pool2d by its data.",
                             "relay.attrs.MaxPool2DAttrs", max2d, max2dGradientExamples}),
    gradientRow<3, Maximum>({"nn.max_pool3d_grad", "The gradient of nn.max_pool3d by its data.",
                             "relay.attrs.MaxPool3DAttrs", max3d, max3dGradientExamples}),
    takenRow<1>({"nn.max_pool1d_take",
                 "The elements where the windows of nn.max_pool1d are "
                 "greatest.",
                 "relay.attrs.MaxPool1DAttrs", max1d, max1dTakenExamples}),
    takenRow<2>({"nn.max_pool2d_take",
                 "The elements where the windows of nn.max_pool2d are "
                 "greatest.",
                 "relay.attrs.MaxPool2DAttrs", max2d, max2dTakenExamples}),
    takenRow<3>({"nn.max_pool3d_take",
                 "The elements where the windows of nn.max_pool3d are "
                 "greatest.",
                 "relay.attrs.MaxPool3DAttrs", max3d, max3dTakenExamples}),
    gradientRow<1, Average>({"nn.avg_pool1d_grad", "The gradient of nn.avg_pool1d by its data.",
                             "relay.attrs.AvgPool1DAttrs", avg1d, avg1dGradientExamples}),
    gradientRow<2, Average>({"nn.avg_pool2d_grad", "The gradient of nn.avg_pool2d by its data.",
                             "relay.attrs.AvgPool2DAttrs", avg2d, avg2dGradientExamples}),
    gradientRow<3, Average>({"nn.avg_pool3d_grad", "The gradient of nn.avg_pool3d by its data.",
                             "relay.attrs.AvgPool3DAttrs", avg3d, avg3dGradientExamples}),
};

} // namespace

OperatorFamily poolFamily() {
  return rows;
}

} // namespace stdlib
