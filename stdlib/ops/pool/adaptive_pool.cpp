// Pools to a given size, and over the whole picture, with their gradients.
//
// Windows of adaptive pools overlap by one element where the sizes do not divide each other.
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/conv_fixes.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/pool/pool_call.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stdlib {

using runtime::Checked;

namespace {

using namespace lang;

/// The extents that `output_size` asks for; empty when it keeps those of the data.
Checked<std::vector<int64_t>> readSize(const Attributes& attributes, size_t dims) {
  std::vector<int64_t> size = attributes.integers("output_size");
  if (size.empty())
    return size;
  if (size.size() == 1 && dims > 1) {
    auto one = readNumbers(attributes, "output_size", 1, 1);
    if (!one)
      return one.failure();
    return std::vector<int64_t>(dims, one->front());
  }
  return readNumbers(attributes, "output_size", dims, 1);
}

/// The relation of a pool of operand `operand` to `size`, where empty keeps the extents.
RelationResult relatePool(const RelationCall& call, size_t dims, size_t operand,
                          const std::vector<int64_t>& size) {
  auto layouts = readPoolLayouts(call.attributes, dims);
  if (!layouts)
    return call.failed(layouts.failure());
  if (auto other = requirePoolRank(call, operand, layouts->data))
    return *other;
  std::vector<const Dim*> spatial;
  for (size_t i = 0; i < dims; ++i) {
    size_t dim = *layouts->data.find(spatialAxes(dims)[i]);
    const Dim* extent = call.shape(operand)[dim];
    if (!size.empty() && extent->isConstant(0))
      return call.failedOn({{operand, dim}}, fmt::format("axis `{}` is empty, so it has no "
                                                         "elements for {} windows",
                                                         spatialAxes(dims)[i], size[i]));
    spatial.push_back(size.empty() ? extent : call.types.constant(size[i]));
  }
  RelationResult result = solvedPool(call, operand, *layouts, spatial);
  for (char axis : spatialAxes(size.empty() ? 0 : dims))
    requireAtLeast(result, call.shape(operand)[*layouts->data.find(axis)], 1);
  return result;
}

RelationResult relateAdaptive(const RelationCall& call, size_t dims, size_t operand) {
  auto size = readSize(call.attributes, dims);
  return size ? relatePool(call, dims, operand, *size) : call.failed(size.failure());
}

template <size_t dims>
RelationResult relate(const RelationCall& call) {
  return relateAdaptive(call, dims, 0);
}

template <size_t dims>
Fixes fix(const RelationCall& call) {
  return poolFix(call, relate<dims>, dims);
}

template <size_t dims>
RelationResult relateGradient(const RelationCall& call) {
  return solvedPoolGradient(call, relateAdaptive(call, dims, 1));
}

template <size_t dims>
RelationResult relateTaken(const RelationCall& call) {
  return solvedPoolTaken(call, relateAdaptive(call, dims, 1));
}

RelationResult relateGlobal(const RelationCall& call) {
  return relatePool(call, 2, 0, {1, 1});
}

Fixes fixGlobal(const RelationCall& call) {
  return poolFix(call, relateGlobal, 2);
}

/// The pool of `data` to a tensor in `out_layout` with the extents `pooled`.
Pool poolOf(ComputeCall& call, size_t dims, PoolKind kind, const TensorHandle& data,
            const Extents& pooled) {
  PoolLayouts layouts = *readPoolLayouts(call.attributes(), dims);
  Extents windows = convertExtents(layouts.result, layouts.data, pooled);
  Pool pool{kind, {}, layouts.data, layouts.result};
  for (char axis : spatialAxes(dims)) {
    size_t dim = *layouts.data.find(axis);
    pool.dims.push_back(adaptiveDim(data.extent(dim), windows[dim]));
    pool.dims.back().dim = dim;
  }
  return pool;
}

template <size_t dims, PoolKind kind>
void compute(ComputeCall& call) {
  poolResult(call, poolOf(call, dims, kind, call.input(0), call.outputShape()));
}

template <size_t dims, PoolKind kind>
void computeGradient(ComputeCall& call) {
  poolGradientResult(call, poolOf(call, dims, kind, call.input(1), call.input(0).shape()));
}

template <size_t dims>
void computeTaken(ComputeCall& call) {
  poolTakenResult(call, poolOf(call, dims, PoolKind::Maximum, call.input(1), call.outputShape()));
}

template <size_t dims, PoolKind kind>
void gradient(GradientCall& d) {
  constexpr std::string_view name = kind == PoolKind::Average ? "avg" : "max";
  give(d, 0,
       d.call(fmt::format("nn.adaptive_{}_pool{}d_grad", name, dims), {d.cotangent(), d.operand(0)},
              sameAttributes(d)));
}

template <PoolKind kind>
void gradientOfGlobal(GradientCall& d) {
  constexpr std::string_view name = kind == PoolKind::Average ? "avg" : "max";
  std::vector<Setting> settings = sameAttributes(d);
  settings.emplace_back("output_size", std::vector{1, 1});
  give(d, 0,
       d.call(fmt::format("nn.adaptive_{}_pool2d_grad", name), {d.cotangent(), d.operand(0)},
              settings));
}

template <size_t dims>
void gradientOfGradient(GradientCall& d) {
  Term pooled =
      d.call(fmt::format("nn.adaptive_avg_pool{}d", dims), {d.cotangent()}, sameAttributes(d));
  give(d, 0, castTo(pooled, d.operand(0).dtype()));
}

/// Both are linear in operand 0 and adjoint to each other, and constant almost everywhere in the
/// data that says where the greatest elements are.
template <size_t dims, bool isTaken>
void maximumSecondGradient(GradientCall& d) {
  std::string_view other = isTaken ? "grad" : "take";
  Term moved = d.call(fmt::format("nn.adaptive_max_pool{}d_{}", dims, other),
                      {d.cotangent(), d.operand(1)}, sameAttributes(d));
  give(d, 0, castTo(moved, d.operand(0).dtype()));
}

constexpr OperandRow operands[] = {{"data", "the tensor to pool"}};
constexpr OperandRow gradientOperands[] = {
    {"out_grad", "the gradient by the result of the pool"},
    {"data", "the data of the pool"},
};

constexpr std::array<AttributeRow, 3> attributesOf(size_t dims) {
  constexpr std::string_view layouts[] = {"\"NCW\"", "\"NCHW\"", "\"NCDHW\""};
  return {{
      {"output_size", AttributeKind::IntList, "[]",
       "spatial extents of the result: one per dimension, one for all, or none to keep those of "
       "the data"},
      {"layout", AttributeKind::String, layouts[dims - 1], "layout of the data"},
      {"out_layout", AttributeKind::String, "\"\"",
       "layout of the result; that of the data if empty"},
  }};
}

constexpr auto attributes1d = attributesOf(1);
constexpr auto attributes2d = attributesOf(2);
constexpr auto attributes3d = attributesOf(3);
constexpr std::span<const AttributeRow> globalAttributes =
    std::span<const AttributeRow>(attributes2d).subspan(1);

constexpr std::string_view details =
    "Window i reaches from floor(i * extent / size) up to, not including, ceil((i + 1) * extent / "
    "size). Integer averages truncate toward zero.";
constexpr std::string_view gradientDetails =
    "Where windows overlap, gradients add up. Of equal greatest elements in a window the first "
    "one, in row-major order, gets the gradient.";
constexpr std::string_view takenDetails =
    "Of equal greatest elements in a window the first one, in row-major order, counts. This is the "
    "adjoint of the gradient of the pool.";

constexpr OperandRow takenOperands[] = {
    {"values", "the tensor to take elements of, in the shape of the data"},
    {"data", "the data of the pool"},
};

constexpr Example max1dTakenExamples[] = {
    {"nn.adaptive_max_pool1d_take([[[7f, 8f, 9f]]], [[[1f, 5f, 2f]]], output_size=[1])",
     "[[[8f]]]"}};
constexpr Example max2dTakenExamples[] = {
    {"nn.adaptive_max_pool2d_take([[[[6f, 7f], [8f, 9f]]]], [[[[1f, 5f], [3f, 2f]]]], "
     "output_size=[1])",
     "[[[[7f]]]]"}};
constexpr Example max3dTakenExamples[] = {
    {"nn.adaptive_max_pool3d_take([[[[[6f, 7f]]]]], [[[[[1f, 5f]]]]], output_size=[1])",
     "[[[[[7f]]]]]"}};
constexpr Example avg1dExamples[] = {
    {"nn.adaptive_avg_pool1d([[[1f, 2f, 6f]]], output_size=[2])", "[[[1.5f, 4f]]]"}};
constexpr Example max1dExamples[] = {
    {"nn.adaptive_max_pool1d([[[1f, 2f, 6f]]], output_size=[2])", "[[[2f, 6f]]]"}};
constexpr Example avg2dExamples[] = {
    {"nn.adaptive_avg_pool2d([[[[1f, 2f], [3f, 4f]]]], output_size=[1, 2])", "[[[[2f, 3f]]]]"}};
constexpr Example max2dExamples[] = {
    {"nn.adaptive_max_pool2d([[[[1f, 2f], [3f, 4f]]]], output_size=[1])", "[[[[4f]]]]"}};
constexpr Example avg3dExamples[] = {
    {"nn.adaptive_avg_pool3d([[[[[1f, 2f], [3f, 4f]]]]], output_size=[1, 2, 1])",
     "[[[[[1.5f], [3.5f]]]]]"}};
constexpr Example max3dExamples[] = {
    {"nn.adaptive_max_pool3d([[[[[1f, 2f], [3f, 4f]]]]], output_size=[1, 2, 1])",
     "[[[[[2f], [4f]]]]]"}};
constexpr Example globalAvgExamples[] = {
    {"nn.global_avg_pool2d([[[[1f, 2f], [3f, 4f]]]])", "[[[[2.5f]]]]"},
    {"nn.global_avg_pool2d([[[[1f, 2f], [3f, 4f]]]], layout=\"NHWC\")", "[[[[2f, 3f]]]]"}};
constexpr Example globalMaxExamples[] = {
    {"nn.global_max_pool2d([[[[1f, 2f], [3f, 4f]]]])", "[[[[4f]]]]"}};
constexpr Example avg1dGradientExamples[] = {
    {"nn.adaptive_avg_pool1d_grad([[[2f, 4f]]], [[[1f, 2f, 6f]]], output_size=[2])",
     "[[[1f, 3f, 2f]]]"}};
constexpr Example max1dGradientExamples[] = {
    {"nn.adaptive_max_pool1d_grad([[[2f, 4f]]], [[[1f, 2f, 6f]]], output_size=[2])",
     "[[[0f, 2f, 4f]]]"}};
constexpr Example avg2dGradientExamples[] = {
    {"nn.adaptive_avg_pool2d_grad([[[[2f, 4f]]]], [[[[1f, 2f], [3f, 4f]]]], output_size=[1, 2])",
     "[[[[1f, 2f], [1f, 2f]]]]"}};
constexpr Example max2dGradientExamples[] = {
    {"nn.adaptive_max_pool2d_grad([[[[2f]]]], [[[[1f, 2f], [3f, 4f]]]], output_size=[1])",
     "[[[[0f, 0f], [0f, 2f]]]]"}};
constexpr Example avg3dGradientExamples[] = {
    {"nn.adaptive_avg_pool3d_grad([[[[[2f]]]]], [[[[[1f, 2f]]]]], output_size=[1])",
     "[[[[[1f, 1f]]]]]"}};
constexpr Example max3dGradientExamples[] = {
    {"nn.adaptive_max_pool3d_grad([[[[[2f]]]]], [[[[[1f, 2f]]]]], output_size=[1])",
     "[[[[[0f, 2f]]]]]"}};

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
  return rowOf(written, {details, operands, withFix<relate<dims>, fix<dims>>, compute<dims, kind>,
                         GradientRule{gradient<dims, kind>}});
}

template <PoolKind kind>
constexpr OperatorRow globalRow(const Written& written) {
  return rowOf(written,
               {"Height and width of the result are 1. Integer averages truncate toward zero.",
                operands, withFix<relateGlobal, fixGlobal>, compute<2, kind>,
                GradientRule{gradientOfGlobal<kind>}});
}

template <size_t dims, PoolKind kind>
constexpr OperatorRow gradientRow(const Written& written) {
  constexpr auto rule = [] {
    if constexpr (kind == PoolKind::Maximum)
      return GradientRule{maximumSecondGradient<dims, false>};
    else
      return GradientRule{gradientOfGradient<dims>};
  };
  return rowOf(written, {gradientDetails, gradientOperands, relateGradient<dims>,
                         computeGradient<dims, kind>, rule()});
}

template <size_t dims>
constexpr OperatorRow takenRow(const Written& written) {
  return rowOf(written, {takenDetails, takenOperands, relateTaken<dims>, computeTaken<dims>,
                         GradientRule{maximumSecondGradient<dims, true>}});
}

using enum PoolKind;

constexpr std::string_view key1d = "relay.attrs.AdaptivePool1DAttrs";
constexpr std::string_view key2d = "relay.attrs.AdaptivePool2DAttrs";
constexpr std::string_view key3d = "relay.attrs.AdaptivePool3DAttrs";

constexpr OperatorRow rows[] = {
    poolRow<1, Average>({"nn.adaptive_avg_pool1d", "Averages a sequence to a given size.", key1d,
                         attributes1d, avg1dExamples}),
    poolRow<2, Average>({"nn.adaptive_avg_pool2d", "Averages pictures to a given size.", key2d,
                         attributes2d, avg2dExamples}),
    poolRow<3, Average>({"nn.adaptive_avg_pool3d", "Averages volumes to a given size.", key3d,
                         attributes3d, avg3dExamples}),
    poolRow<1, Maximum>({"nn.adaptive_max_pool1d", "The maxima of a sequence to a given size.",
                         key1d, attributes1d, max1dExamples}),
    poolRow<2, Maximum>({"nn.adaptive_max_pool2d", "The maxima of pictures to a given size.", key2d,
                         attributes2d, max2dExamples}),
    poolRow<3, Maximum>({"nn.adaptive_max_pool3d", "The maxima of volumes to a given size.", key3d,
                         attributes3d, max3dExamples}),
    globalRow<Average>({"nn.global_avg_pool2d", "The average of each channel of a picture.",
                        "relay.attrs.GlobalPool2DAttrs", globalAttributes, globalAvgExamples}),
    globalRow<Maximum>({"nn.global_max_pool2d",
                        "The greatest element of each channel of a picture.",
                        "relay.attrs.GlobalPool2DAttrs", globalAttributes, globalMaxExamples}),
    gradientRow<1, Average>({"nn.adaptive_avg_pool1d_grad",
                             "The gradient of nn.adaptive_avg_pool1d by its data.", key1d,
                             attributes1d, avg1dGradientExamples}),
    gradientRow<2, Average>({"nn.adaptive_avg_pool2d_grad",
                             "The gradient of nn.adaptive_avg_pool2d by its data.", key2d,
                             attributes2d, avg2dGradientExamples}),
    gradientRow<3, Average>({"nn.adaptive_avg_pool3d_grad",
                             "The gradient of nn.adaptive_avg_pool3d by its data.", key3d,
                             attributes3d, avg3dGradientExamples}),
    gradientRow<1, Maximum>({"nn.adaptive_max_pool1d_grad",
                             "The gradient of nn.adaptive_max_pool1d by its data.", key1d,
                             attributes1d, max1dGradientExamples}),
    gradientRow<2, Maximum>({"nn.adaptive_max_pool2d_grad",
                             "The gradient of nn.adaptive_max_pool2d by its data.", key2d,
                             attributes2d, max2dGradientExamples}),
    gradientRow<3, Maximum>({"nn.adaptive_max_pool3d_grad",
                             "The gradient of nn.adaptive_max_pool3d by its data.", key3d,
                             attributes3d, max3dGradientExamples}),
    takenRow<1>({"nn.adaptive_max_pool1d_take",
                 "The elements where the windows of nn.adaptive_max_pool1d are greatest.", key1d,
                 attributes1d, max1dTakenExamples}),
    takenRow<2>({"nn.adaptive_max_pool2d_take",
                 "The elements where the windows of nn.adaptive_max_pool2d are greatest.", key2d,
                 attributes2d, max2dTakenExamples}),
    takenRow<3>({"nn.adaptive_max_pool3d_take",
                 "The elements where the windows of nn.adaptive_max_pool3d are greatest.", key3d,
                 attributes3d, max3dTakenExamples}),
};

} // namespace

OperatorFamily adaptivePoolFamily() {
  return rows;
}

} // namespace stdlib
