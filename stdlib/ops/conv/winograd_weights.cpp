// The transforms of weights for Winograd's convolutions.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/winograd_call.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using runtime::Checked;
using runtime::DType;
using runtime::Problem;

namespace {

using namespace lang;

/// The kernel of a weight that is to be transformed, `[O, I, ...]`.
Checked<WinogradKernel> kernelOf(Dims weight) {
  std::vector<int64_t> taps;
  for (const Dim* extent : weight.subspan(2)) {
    if (!extent->isConstant())
      return Problem{fmt::format("the extents of the kernel must be numbers, but the shape is `{}`",
                                 shapeText(weight))};
    taps.push_back(extent->value);
  }
  return readKernel(std::move(taps));
}

template <size_t dims>
RelationResult relateTransform(const RelationCall& call) {
  auto tile = readTile(call.attributes);
  if (!tile)
    return call.failed(tile.failure());
  if (auto problem = requireFloats(call, "weight", dims + 2))
    return *problem;
  auto kernel = kernelOf(call.shape(0));
  if (!kernel)
    return call.failedAt(0, kernel.failure());
  std::vector<const Dim*> shape(kernel->transformed.size(),
                                call.types.constant(*tile + kernel->width() - 1));
  for (size_t i : kernel->plain)
    shape.push_back(call.types.constant(kernel->taps[i]));
  shape.push_back(call.shape(0)[0]);
  shape.push_back(call.shape(0)[1]);
  return call.solved(shape, call.dtype(0));
}

template <size_t dims>
void computeTransform(ComputeCall& call) {
  TensorHandle weight = call.input(0);
  std::vector<int64_t> taps;
  for (size_t i = 0; i < dims; ++i)
    taps.push_back(int64_t(call.structuralExtent(0, 2 + i)));
  auto read = readKernel(taps);
  // Where the form stays open, the call is of no use, and any kernel will do.
  WinogradKernel kernel = read ? *read : *readKernel(std::vector<int64_t>(dims, 3));
  WinogradMatrices matrices = winogradMatrices(*readTile(call.attributes()), kernel.width());
  TensorHandle table = constantTable(call, matrices.weight, weight.dtype());
  size_t count = kernel.transformed.size();
  call.result([&](const Position& at) {
    return call.sumOver(repeated(call, kernel, kernel.width()), [&](const Position& tap) {
      Position from{at[dims], at[dims + 1]};
      from.resize(dims + 2, at[dims]);
      for (size_t i = 0; i < count; ++i)
        from[2 + kernel.transformed[i]] = tap[i];
      for (size_t i = 0; i < kernel.plain.size(); ++i)
        from[2 + kernel.plain[i]] = at[count + i];
      Position points(at.begin(), at.begin() + ptrdiff_t(count));
      return weight(from) * productOfEntries(table, points, tap);
    });
  });
}

/// The equation of einsum for a transform's adjoint, over `count` transformed dimensions.
std::string_view adjointEquation(size_t dims, size_t count) {
  if (dims == 2)
    return "ak,bl,aboi->oikl";
  return count == 3 ? "ak,bl,cm,abcoi->oiklm" : "ak,bl,abdoi->oidkl";
}

/// The adjoint of a transform: `cotangent`, of its result, for a weight `[O, I, ...]`.
Term transformedBack(const Term& cotangent, const ConstantMatrix& matrix,
                     const WinogradKernel& kernel) {
  lang::TermWriter& d = cotangent.rule();
  std::vector<Term> factors(kernel.transformed.size(), constantTerm(d, matrix, cotangent.dtype()));
  factors.push_back(cotangent);
  return d.call("einsum", {d.tuple(factors)},
                {{"equation", adjointEquation(kernel.taps.size(), kernel.transformed.size())}});
}

void transformGradient(GradientCall& d) {
  WinogradKernel kernel = *kernelOf(d.operand(0).shape());
  WinogradMatrices matrices = winogradMatrices(*readTile(d.attributes()), kernel.width());
  give(d, 0, transformedBack(d.cotangent(), matrices.weight, kernel));
}

/// NNPACK's tiles: six results, three taps.
constexpr int64_t packTile = 6, packTaps = 3;

WinogradMatrices packMatrices() {
  return winogradMatrices({0, 1, -1, 2, -2, 0.5, -0.5}, packTile, packTaps);
}

RelationResult relatePack(const RelationCall& call) {
  if (auto problem = requireFloats(call, "weight", 4))
    return *problem;
  DType dtype = call.attributes.dtype("out_dtype").value_or(call.dtype(0));
  if (!dtype.isFloat())
    return call.failed("`out_dtype` must be a floating-point type");
  TypeContext& types = call.types;
  for (size_t i = 2; i < 4; ++i)
    if (cannotBe(call, call.shape(0)[i], packTaps))
      return call.failedAt(0, fmt::format("the kernels must be 3 by 3, but the shape is `{}`",
                                          shapeText(call.shape(0))));
  const Dim* size = types.constant(packTile + packTaps - 1);
  return call.solved({call.shape(0)[0], call.shape(0)[1], size, size}, dtype);
}

void computePack(ComputeCall& call) {
  TensorHandle weight = call.input(0);
  TensorHandle table = constantTable(call, packMatrices().weight, call.outputDType());
  call.result([&](const Position& at) {
    return call.sumOver({call.integer(packTaps), call.integer(packTaps)}, [&](const Position& tap) {
      return cast(weight({at[0], at[1], tap[0], tap[1]}), call.outputDType()) *
             productOfEntries(table, {at[2], at[3]}, tap);
    });
  });
}

void packGradient(GradientCall& d) {
  WinogradKernel kernel = *readKernel({packTaps, packTaps});
  Term points = transposed(d.cotangent(), {2, 3, 0, 1});
  Term back = transformedBack(points, packMatrices().weight, kernel);
  Term weight = d.operand(0);
  give(d, 0, castTo(reshapedLike(back, weight), weight.dtype()));
}

constexpr OperandRow transformOperands[] = {{"weight", "the kernels, `[O, I, ...]`"}};

constexpr AttributeRow tileRow{"tile_size", AttributeKind::Int, "",
                               "how many neighbouring results are computed together along each "
                               "dimension"};
constexpr AttributeRow transformAttributes[] = {tileRow};
constexpr AttributeRow packAttributes[] = {
    {"convolution_algorithm", AttributeKind::Int, "", "NNPACK's number of the algorithm"},
    {"out_dtype", AttributeKind::DType, "\"\"",
     "element type of the result; that of the weight if empty"},
};

constexpr std::string_view transformDetails =
    "result[p, q, o, i] = sum over k, l of weight[o, i, k, l] * G[p, k] * G[q, l]. G has a row for "
    "each of the tile_size + taps - 2 points x at which the method evaluates polynomials, its "
    "powers over the product of its differences to the other points (for the first one without "
    "sign), and a last row `0 ... 0 1`. The points are those of TVM: 0, -1, 1, 1/2 and so on. "
    "Kernels have 3 to 7 taps along each dimension, tiles are from 2 to 8.";
constexpr std::string_view depthDetails =
    "As nn.contrib_conv2d_winograd_weight_transform along all three dimensions, `[p, q, r, O, I]`; "
    "with a depth below 3 or above 7 only along height and width: `[p, q, D, O, I]`.";
constexpr std::string_view packDetails =
    "Each 3 by 3 kernel k becomes the 8 by 8 tile G k transpose(G) of Winograd's method for tiles "
    "of 6, with the points 0, 1, -1, 2, -2, 1/2, -1/2. NNPACK may keep the numbers of a tile in an "
    "order of its own; here they stand row by row, whatever `convolution_algorithm` says.";

constexpr Example transformExamples[] = {
    {"nn.contrib_conv2d_winograd_weight_transform([[[[1f, 0f, 0f], [0f, 0f, 0f], [0f, 0f, 0f]]]], "
     "tile_size=2)",
     "[[[[1f]], [[0.5f]], [[0.5f]], [[0f]]], [[[0.5f]], [[0.25f]], [[0.25f]], [[0f]]], [[[0.5f]], "
     "[[0.25f]], [[0.25f]], [[0f]]], [[[0f]], [[0f]], [[0f]], [[0f]]]]"},
};
constexpr Example depthExamples[] = {
    {"squeeze(nn.contrib_conv3d_winograd_weight_transform([[[[[4f, 0f, 0f], [0f, 0f, 0f], [0f, 0f, "
     "0f]]]]], tile_size=2))",
     "[[4f, 2f, 2f, 0f], [2f, 1f, 1f, 0f], [2f, 1f, 1f, 0f], [0f, 0f, 0f, 0f]]"},
};
constexpr Example packExamples[] = {
    {"nn.contrib_conv2d_winograd_nnpack_weight_transform([[[[0f, 0f, 0f], [0f, 0f, 0f], [0f, 0f, "
     "2025f]]]], convolution_algorithm=3)",
     "[[[[0f, 0f, 0f, 0f, 0f, 0f, 0f, 0f], [0f, 100f, 100f, -20f, -20f, -80f, -80f, -450f], [0f, "
     "100f, 100f, -20f, -20f, -80f, -80f, -450f], [0f, -20f, -20f, 4f, 4f, 16f, 16f, 90f], [0f, "
     "-20f, -20f, 4f, 4f, 16f, 16f, 90f], [0f, -80f, -80f, 16f, 16f, 64f, 64f, 360f], [0f, -80f, "
     "-80f, 16f, 16f, 64f, 64f, 360f], [0f, -450f, -450f, 90f, 90f, 360f, 360f, 2025f]]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "nn.contrib_conv2d_winograd_weight_transform",
        .doc = "The weight of a convolution as Winograd's method multiplies with it.",
        .details = transformDetails,
        .operands = transformOperands,
        .attributes = transformAttributes,
        .attributesKey = "relay.attrs.ConvWinogradWeightTransformAttrs",
        .relation = relateTransform<2>,
        .compute = computeTransform<2>,
        .gradient = GradientRule{transformGradient},
        .examples = transformExamples,
    },
    {
        .name = "nn.contrib_conv3d_winograd_weight_transform",
        .doc = "The weight of a convolution of volumes as Winograd's method multiplies with it.",
        .details = depthDetails,
        .operands = transformOperands,
        .attributes = transformAttributes,
        .attributesKey = "relay.attrs.ConvWinogradWeightTransformAttrs",
        .relation = relateTransform<3>,
        .compute = computeTransform<3>,
        .gradient = GradientRule{transformGradient},
        .examples = depthExamples,
    },
    {
        .name = "nn.contrib_conv2d_winograd_nnpack_weight_transform",
        .doc = "The weight of a convolution as NNPACK's form of Winograd's method multiplies with "
               "it.",
        .details = packDetails,
        .operands = transformOperands,
        .attributes = packAttributes,
        .attributesKey = "relay.attrs.Conv2DWinogradNNPACKWeightTransformAttrs",
        .relation = relatePack,
        .compute = computePack,
        .gradient = GradientRule{packGradient},
        .examples = packExamples,
    },
};

} // namespace

OperatorFamily winogradWeightsFamily() {
  return rows;
}

} // namespace stdlib
