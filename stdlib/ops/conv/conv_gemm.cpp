// Convolutions as products of matrices, whose weight was cut into tiles beforehand.
//
// The weight `[H, W, I, O]` is a matrix of K = H * W * I rows and O columns. It is padded with
// zeros to whole tiles of columns and to four tiles of rows at a time.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/conv_forms.h"
#include "stdlib/ops/conv/conv_gradient.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/gradient.h"

#include <array>
#include <fmt/format.h>

namespace stdlib {

using runtime::Checked;
using runtime::DType;
using runtime::Problem;

namespace {

using namespace lang;

/// The sizes of tiles: along the columns and along the rows of the matrix.
struct Tiles {
  int64_t columns = 1, rows = 1;
  /// Whether the columns of a tile come before its rows, as for integers of 8 bits.
  bool isTransposed = false;
};

/// As many tiles of rows are read at once.
constexpr int64_t rowTilesAtOnce = 4;

bool isTransposed(DType dtype) {
  return dtype.isInteger() && dtype.bytes() == 1;
}

/// A tile's position among the columns and rows of the matrix, for a position in the tiled weight.
std::pair<Scalar, Scalar> matrixPosition(const Tiles& tiles, const Position& at) {
  Scalar column = at[tiles.isTransposed ? 2 : 3], row = at[tiles.isTransposed ? 3 : 2];
  return {at[0] * double(tiles.columns) + column, at[1] * double(tiles.rows) + row};
}

/// The shape of the tiled weight of a matrix.
std::vector<const Dim*> gemmShape(TypeContext& types, const Tiles& tiles, const Dim* rows,
                                  const Dim* columns) {
  auto tilesFor = [&](const Dim* extent, int64_t tile) {
    return types.floorDivide(types.add(extent, types.constant(tile - 1)), tile);
  };
  const Dim* rowTiles =
      types.multiply(tilesFor(rows, rowTilesAtOnce * tiles.rows), types.constant(rowTilesAtOnce));
  std::vector<const Dim*> shape{tilesFor(columns, tiles.columns), rowTiles,
                                types.constant(tiles.rows), types.constant(tiles.columns)};
  if (tiles.isTransposed)
    std::swap(shape[2], shape[3]);
  return shape;
}

/// The sizes of tiles are kept so small that sums and products with them fit.
constexpr int64_t largestTile = int64_t(1) << 24;

Checked<Tiles> readTiles(const Attributes& attributes, DType dtype) {
  for (std::string_view name : {"tile_N", "tile_K"})
    if (int64_t tile = attributes.integer(name); tile < 1 || tile > largestTile)
      return Problem{
          fmt::format("`{}` must be from 1 to {}, but it is {}", name, largestTile, tile)};
  return Tiles{attributes.integer("tile_N"), attributes.integer("tile_K"), isTransposed(dtype)};
}

RelationResult relateTransform(const RelationCall& call) {
  auto tiles = readTiles(call.attributes, call.dtype(0));
  if (!tiles)
    return call.failed(tiles.failure());
  if (call.rank(0) != 4)
    return call.failedAt(0, fmt::format("`weights` must be `[H, W, I, O]`, but its shape is `{}`",
                                        shapeText(call.shape(0))));
  Dims weights = call.shape(0);
  TypeContext& types = call.types;
  const Dim* rows = types.multiply(types.multiply(weights[0], weights[1]), weights[2]);
  return call.solved(gemmShape(types, *tiles, rows, weights[3]), call.dtype(0));
}

void computeTransform(ComputeCall& call) {
  TensorHandle weights = call.input(0);
  Tiles tiles = *readTiles(call.attributes(), weights.dtype());
  Scalar rows = weights.extent(0) * weights.extent(1) * weights.extent(2);
  TensorHandle matrix = call.reshape(weights, {rows, weights.extent(3)});
  Scalar zero = call.number(weights.dtype(), 0);
  call.result([&](const Position& at) {
    auto [column, row] = matrixPosition(tiles, at);
    return matrix.orElse({row, column}, zero);
  });
}

/// A tensor `[H, W, I, O]` as a matrix.
Term asMatrix(const Term& weights) {
  return reshaped(reshaped(weights, {-3, -2}), {-3, -2});
}

/// The weight `[H, W, I, O]` in the shape of `like` that a tiled one of floats stands for.
Term untiled(const Term& tiled, const Term& like) {
  Term matrix = reshaped(transposed(tiled, {1, 2, 0, 3}), {-3, -3});
  return reshapedLike(slicedLike(matrix, asMatrix(like), {0, 1}), like);
}

void transformGradient(GradientCall& d) {
  give(d, 0, untiled(d.cotangent(), d.operand(0)));
}

/// The attributes of a convolution with a tiled weight.
Checked<ConvAttributes> readGemm(const Attributes& attributes) {
  auto conv = readConv(attributes, 2, ConvKind::Forward);
  if (!conv)
    return conv;
  if (!conv->channels || conv->kernelSize.empty())
    return Problem{"`channels` and `kernel_size` must be given"};
  if (conv->groups != 1)
    return Problem{fmt::format("`groups` must be 1, but it is {}", conv->groups)};
  return conv;
}

/// The tiles of a weight, whose shape tells them.
Checked<Tiles> tilesOf(const Type* weight) {
  if (weight->shape.size() != 4)
    return Problem{fmt::format("`weight` must have 4 dimensions, but its shape is `{}`",
                               shapeText(weight->shape))};
  const Dim *third = weight->shape[2], *fourth = weight->shape[3];
  for (const Dim* tile : {third, fourth})
    if (!tile->isConstant() || tile->value < 1 || tile->value > largestTile)
      return Problem{fmt::format("the last two extents of `weight` must be numbers from 1 to {}, "
                                 "but its shape is `{}`",
                                 largestTile, shapeText(weight->shape))};
  if (isTransposed(weight->dtype))
    return Tiles{third->value, fourth->value, true};
  return Tiles{fourth->value, third->value, false};
}

RelationResult relateConv(const RelationCall& call) {
  auto conv = readGemm(call.attributes);
  if (!conv)
    return call.failed(conv.failure());
  auto tiles = tilesOf(call.operands[1]);
  if (!tiles)
    return call.failedAt(1, tiles.failure());
  auto data = convertShape(call.types, conv->data, conv->canonicalData, call.shape(0));
  if (!data)
    return call.failedAt(0, data.failure());
  TypeContext& types = call.types;
  const Dim *inputs = (*data)[1], *outputs = types.constant(*conv->channels);
  std::vector<const Dim*> taps{types.constant(conv->kernelSize[0]),
                               types.constant(conv->kernelSize[1])};
  auto plain = tiledShape(types, conv->canonicalWeight, conv->weight,
                          std::vector{outputs, inputs, taps[0], taps[1]});
  if (!plain)
    return call.failed(plain.failure());
  // The relation of the convolution with the weight that was tiled.
  const Type* operands[] = {call.operands[0], types.tensor(*plain, call.dtype(1))};
  RelationResult result = convRelation({types, operands, call.attributes, {}}, 2);
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  const Dim* rows = types.multiply(inputs, types.multiply(taps[0], taps[1]));
  demandOperand(call, result, 1, "weight",
                types.tensor(gemmShape(types, *tiles, rows, outputs), call.dtype(1)));
  return result;
}

void computeConv(ComputeCall& call) {
  ConvAttributes conv = *readGemm(call.attributes());
  TensorHandle data = call.input(0), tiled = call.input(1);
  Scalar inputs = convertExtents(conv.data, conv.canonicalData, data.shape())[1];
  bool transposes = isTransposed(tiled.dtype());
  Tiles tiles{int64_t(call.structuralExtent(1, transposes ? 2 : 3)),
              int64_t(call.structuralExtent(1, transposes ? 3 : 2)), transposes};
  Scalar height = call.integer(conv.kernelSize[0]), width = call.integer(conv.kernelSize[1]);
  Extents shape{call.integer(*conv.channels), inputs, height, width};
  TensorHandle weight = call.define(shape, [&](const Position& at) {
    Scalar row = (at[2] * width + at[3]) * inputs + at[1], column = at[0];
    Position from{floorDivide(column, std::max<int64_t>(tiles.columns, 1)),
                  floorDivide(row, std::max<int64_t>(tiles.rows, 1)),
                  floorMod(row, std::max<int64_t>(tiles.rows, 1)),
                  floorMod(column, std::max<int64_t>(tiles.columns, 1))};
    if (tiles.isTransposed)
      std::swap(from[2], from[3]);
    return tiled(from);
  });
  conv.weight = conv.canonicalWeight;
  convResult(call, conv, data, weight);
}

/// A tensor in the shape `[H, W, I, O]` of the weight before it was tiled, of any values.
Term weightShaped(GradientCall& d, const ConvAttributes& conv) {
  Term pictures = inLayout(d.operand(0), conv.data, conv.canonicalData);
  Term channels = expandDims(expandDims(sum(pictures, {0, 2, 3}), 0, 2), 3);
  runtime::Tensor zeros(runtime::Float32,
                        {conv.kernelSize[0], conv.kernelSize[1], 1, *conv.channels});
  return castTo(d.constant(zeros), channels.dtype()) * channels;
}

void convGradient(GradientCall& d) {
  if (isEmptyConvolution(d))
    return giveZeros(d);
  ConvAttributes conv = *readGemm(d.attributes());
  Tiles tiles = *tilesOf(d.operand(1).type());
  Layout weightLayout{{{'H'}, {'W'}, {'I'}, {'O'}}};
  conv.weight = weightLayout;
  Term weight = untiled(d.operand(1), weightShaped(d, conv));
  auto [byData, byWeight] = convCotangents(d, conv, d.operand(0), weight);
  give(d, 0, byData);
  give(d, 1,
       d.call("nn.contrib_conv2d_gemm_weight_transform", {byWeight},
              {{"tile_N", tiles.columns}, {"tile_K", tiles.rows}}));
}

constexpr OperandRow transformOperands[] = {{"weights", "the kernels, `[H, W, I, O]`"}};
constexpr OperandRow convOperands[] = {
    {"data", "the tensor that the window slides over"},
    {"weight", "the tiled weight"},
};

constexpr AttributeRow transformAttributes[] = {
    {"tile_N", AttributeKind::Int, "", "how many channels of the result a tile has"},
    {"tile_K", AttributeKind::Int, "",
     "how many products of one sum a tile has, counted over taps and channels of the data"},
};
constexpr auto convAttributeRows = [] {
  auto rows = convAttributes(2);
  rows[4].doc = "channels of the result; they must be given";
  rows[5].doc = "spatial extents of the weight before it was tiled; they must be given";
  rows[7].doc = "layout of the weight before it was tiled";
  return rows;
}();

constexpr std::string_view transformDetails =
    "result[x, y, k, n] = weights[h, w, i, x * tile_N + n] with y * tile_K + k = (h * W + w) * I + "
    "i, or zero where there is no such weight; for integers of 8 bits the last two dimensions are "
    "exchanged. The number y of tiles is a multiple of 4.";
constexpr std::string_view convDetails =
    "The convolution whose weight nn.contrib_conv2d_gemm_weight_transform tiled; the weight's "
    "shape tells the sizes of the tiles. `channels` and `kernel_size` must be given, `groups` must "
    "be 1. TVM computes it for the layout `NHWC`.";

constexpr Example transformExamples[] = {
    {"nn.contrib_conv2d_gemm_weight_transform([[[[1f, 2f, 3f], [4f, 5f, 6f]]]], tile_N=2, "
     "tile_K=1)",
     "[[[[1f, 2f]], [[4f, 5f]], [[0f, 0f]], [[0f, 0f]]], [[[3f, 0f]], [[6f, 0f]], [[0f, 0f]], "
     "[[0f, 0f]]]]"},
    {"nn.contrib_conv2d_gemm_weight_transform(cast([[[[1, 2], [4, 5]]]], dtype=\"int8\"), "
     "tile_N=1, tile_K=2)",
     "cast([[[[1, 4]], [[0, 0]], [[0, 0]], [[0, 0]]], [[[2, 5]], [[0, 0]], [[0, 0]], [[0, 0]]]], "
     "dtype=\"int8\")"},
};
constexpr Example convExamples[] = {
    {"nn.contrib_conv2d_gemm_without_weight_transform([[[[1f, 2f], [3f, 4f]]]], "
     "nn.contrib_conv2d_gemm_weight_transform([[[[10f], [1f]]]], tile_N=2, tile_K=1), channels=1, "
     "kernel_size=[1, 1], data_layout=\"NHWC\", kernel_layout=\"HWIO\")",
     "[[[[12f], [34f]]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "nn.contrib_conv2d_gemm_weight_transform",
        .doc = "The weight of a convolution as tiles of a matrix.",
        .details = transformDetails,
        .operands = transformOperands,
        .attributes = transformAttributes,
        .attributesKey = "relay.attrs.ConvGemmWeightTransformAttrs",
        .relation = relateTransform,
        .compute = computeTransform,
        .gradient = GradientRule{transformGradient},
        .examples = transformExamples,
    },
    {
        .name = "nn.contrib_conv2d_gemm_without_weight_transform",
        .doc = "Convolves pictures with a weight that was cut into tiles beforehand.",
        .details = convDetails,
        .operands = convOperands,
        .attributes = convAttributeRows,
        .attributesKey = "relay.attrs.Conv2DAttrs",
        .relation = relateConv,
        .compute = computeConv,
        .gradient = GradientRule{convGradient},
        .examples = convExamples,
    },
};

} // namespace

OperatorFamily convGemmFamily() {
  return rows;
}

} // namespace stdlib
