// Moving blocks of a picture between space, channels and the batch.
//
// All four only permute elements (space_to_batch_nd pads first). Channels, rows and batch items
// beyond the last whole block are ignored, as in Relay; where that is known to happen the call is
// doubtful.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/layout.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

const Layout& nchw() {
  static const Layout layout = *parseLayout("NCHW");
  return layout;
}

/// The dimension divided by a number. What that leaves over, if it is known, becomes the doubt.
const Dim* dividedDim(TypeContext& types, const Dim* dim, std::string_view parts, int64_t divisor,
                      std::string& doubt) {
  int64_t rest = dim->isConstant() ? dim->value % divisor : 0;
  if (rest > 0)
    doubt = fmt::format("{} of {} {} {} not used, because blocks take {}", rest, dim->value, parts,
                        rest == 1 ? "is" : "are", divisor);
  return types.floorDivide(dim, divisor);
}

/// Checks layout and block size, and gives the shape in NCHW to `change`, whose shape comes back in
/// the operator's layout. A null dimension says that it is too large.
template <typename Change>
RelationResult pictureRelation(const RelationCall& call, Change change) {
  auto layout = parseLayout(call.attributes.text("layout"));
  if (!layout || !areConvertible(*layout, nchw()))
    return call.failed(fmt::format("`layout` must be a layout of N, C, H and W such as `NCHW`, but "
                                   "it is `{}`",
                                   call.attributes.text("layout")));
  int64_t block = call.attributes.integer("block_size");
  if (block <= 0 || block > 1 << 20)
    return call.failed(fmt::format("`block_size` must be positive, but it is {}", block));
  auto shape = convertShape(call.types, *layout, nchw(), call.shape(0));
  if (!shape)
    return call.failedAt(0, shape.failure());
  std::string doubt;
  if (!change(*shape, block, doubt))
    return call.failedForSize(
        words("blocks of {} by {} make `{}` too large", block, block, call.operands[0]));
  auto output = convertShape(call.types, nchw(), *layout, Dims(*shape));
  if (!output)
    return call.failed(output.failure());
  RelationResult result = call.solved(*output, call.dtype(0));
  result.doubt = doubt;
  return result;
}

RelationResult depthToSpaceRelation(const RelationCall& call) {
  if (!isOneOf(call.attributes.text("mode"), {"DCR", "CDR", "CRD"}))
    return choiceFailure(call, "mode", "`DCR`, `CDR` or `CRD`");
  return pictureRelation(
      call, [&](std::vector<const Dim*>& shape, int64_t block, std::string& doubt) {
        shape[1] = dividedDim(call.types, shape[1], "channels", block * block, doubt);
        shape[2] = scaledDim(call.types, shape[2], block);
        shape[3] = scaledDim(call.types, shape[3], block);
        return shape[1] && shape[2] && shape[3];
      });
}

RelationResult spaceToDepthRelation(const RelationCall& call) {
  return pictureRelation(call,
                         [&](std::vector<const Dim*>& shape, int64_t block, std::string& doubt) {
                           shape[1] = scaledDim(call.types, shape[1], block * block);
                           shape[2] = dividedDim(call.types, shape[2], "rows", block, doubt);
                           shape[3] = dividedDim(call.types, shape[3], "columns", block, doubt);
                           return shape[1] && shape[2] && shape[3];
                         });
}

/// The element at a position in NCHW; zero in what pads the last tile of a tiled layout.
Scalar readPicture(const TensorHandle& x, const Layout& layout, const Position& at) {
  Position from = convertPosition(nchw(), layout, at);
  return layout.hasTiles() ? x.orElse(from, cast(number(at[0], 0), x.dtype())) : x(from);
}

void computeDepthToSpace(ComputeCall& call) {
  TensorHandle x = call.input(0);
  Layout layout = *parseLayout(call.attributes().text("layout"));
  int64_t block = call.attributes().integer("block_size");
  bool isBlockFirst = call.attributes().text("mode") == "DCR";
  Scalar channels = convertExtents(layout, nchw(), call.outputShape())[1];
  call.result([&](const Position& at) {
    Position to = convertPosition(layout, nchw(), at);
    Scalar inBlock = floorMod(to[2], block) * call.integer(block) + floorMod(to[3], block);
    Scalar channel =
        isBlockFirst ? inBlock * channels + to[1] : to[1] * call.integer(block * block) + inBlock;
    return readPicture(x, layout,
                       {to[0], channel, floorDivide(to[2], block), floorDivide(to[3], block)});
  });
}

void computeSpaceToDepth(ComputeCall& call) {
  TensorHandle x = call.input(0);
  Layout layout = *parseLayout(call.attributes().text("layout"));
  int64_t block = call.attributes().integer("block_size");
  Scalar channels = convertExtents(layout, nchw(), x.shape())[1];
  Scalar size = call.integer(block);
  call.result([&](const Position& at) {
    Position to = convertPosition(layout, nchw(), at);
    Scalar inBlock = floorDivide(to[1], channels);
    return readPicture(x, layout,
                       {to[0], floorMod(to[1], channels),
                        to[2] * size + floorDivide(inBlock, block),
                        to[3] * size + floorMod(inBlock, block)});
  });
}

/// What space_to_batch_nd and batch_to_space_nd have in common: dimensions 1 .. M are the spatial
/// ones, M being the length of `block_shape`, and each has a pair of widths in `pairs`.
struct Blocks {
  std::vector<int64_t> shape;
  std::vector<std::vector<int64_t>> widths;
  int64_t count = 1;

  Blocks(const Attributes& attributes, std::string_view pairs)
      : shape(attributes.integers("block_shape")), widths(attributes.integerLists(pairs)) {}

  /// Fills `count` and gives the problem, or nothing.
  std::optional<Words> check(const RelationCall& call, std::string_view pairs) {
    if (shape.size() != widths.size())
      return fmt::format("`block_shape` has {} numbers, but `{}` has {} pairs", shape.size(), pairs,
                         widths.size());
    if (call.rank(0) < shape.size() + 1)
      return words("`block_shape` has {} numbers, so the data needs {} dimensions or more, "
                   "but it is `{}`",
                   shape.size(), shape.size() + 1, call.operands[0]);
    for (size_t i = 0; i < shape.size(); ++i) {
      constexpr int64_t limit = int64_t(1) << 40;
      if (shape[i] <= 0 || __builtin_mul_overflow(count, shape[i], &count))
        return fmt::format("`block_shape` must hold positive numbers, but entry {} is {}", i,
                           shape[i]);
      if (widths[i].size() != 2 || widths[i][0] < 0 || widths[i][1] < 0 || widths[i][0] > limit ||
          widths[i][1] > limit)
        return fmt::format("`{}` must hold pairs of numbers that are not negative, but entry {} "
                           "does not",
                           pairs, i);
    }
    return std::nullopt;
  }
};

RelationResult spaceToBatchRelation(const RelationCall& call) {
  Blocks blocks(call.attributes, "paddings");
  if (auto problem = blocks.check(call, "paddings"))
    return call.failed(*problem);
  std::vector<const Dim*> shape(call.shape(0).begin(), call.shape(0).end());
  shape[0] = scaledDim(call.types, shape[0], blocks.count);
  if (!shape[0])
    return call.failedForSize("the batch times the blocks is too large");
  std::vector<DimBound> bounds;
  for (size_t i = 0; i < blocks.shape.size(); ++i) {
    const Dim* padded =
        offsetDim(call.types, shape[i + 1], blocks.widths[i][0] + blocks.widths[i][1]);
    if (!padded || (padded->isConstant() && padded->value % blocks.shape[i] != 0))
      return call.failed(fmt::format("dimension {} of {} padded by [{}, {}] can't be split "
                                     "into blocks of {}",
                                     i + 1, dimText(shape[i + 1]), blocks.widths[i][0],
                                     blocks.widths[i][1], blocks.shape[i]));
    bounds.push_back({padded, 0, blocks.shape[i]});
    shape[i + 1] = call.types.floorDivide(padded, blocks.shape[i]);
  }
  RelationResult result = call.solved(shape, call.dtype(0));
  for (const DimBound& bound : bounds)
    requireMultiple(result, bound.dim, bound.divisor);
  return result;
}

RelationResult batchToSpaceRelation(const RelationCall& call) {
  Blocks blocks(call.attributes, "crops");
  if (auto problem = blocks.check(call, "crops"))
    return call.failed(*problem);
  std::vector<const Dim*> shape(call.shape(0).begin(), call.shape(0).end());
  std::string doubt;
  shape[0] = dividedDim(call.types, shape[0], "batch items", blocks.count, doubt);
  for (size_t i = 0; i < blocks.shape.size(); ++i) {
    const Dim* joined = scaledDim(call.types, shape[i + 1], blocks.shape[i]);
    const Dim* cropped =
        joined ? offsetDim(call.types, joined, -blocks.widths[i][0] - blocks.widths[i][1])
               : nullptr;
    if (!cropped)
      return call.failed(fmt::format("dimension {} of {} blocks of {} can't be cropped by "
                                     "[{}, {}]",
                                     i + 1, dimText(shape[i + 1]), blocks.shape[i],
                                     blocks.widths[i][0], blocks.widths[i][1]));
    shape[i + 1] = cropped;
  }
  RelationResult result = call.solved(shape, call.dtype(0));
  result.doubt = doubt;
  return result;
}

void computeSpaceToBatch(ComputeCall& call) {
  TensorHandle x = call.input(0);
  Blocks blocks(call.attributes(), "paddings");
  Scalar outside = constantOf(call, x.dtype(), call.attributes().real("pad_value"));
  call.result([&](const Position& at) {
    Position within = unflatten(floorDivide(at[0], x.extent(0)), call.integers(blocks.shape));
    Position from = replaceAt(at, 0, floorMod(at[0], x.extent(0)));
    for (size_t i = 0; i < blocks.shape.size(); ++i)
      from[i + 1] =
          at[i + 1] * call.integer(blocks.shape[i]) + within[i] - call.integer(blocks.widths[i][0]);
    return x.orElse(from, outside);
  });
}

void computeBatchToSpace(ComputeCall& call) {
  TensorHandle x = call.input(0);
  Blocks blocks(call.attributes(), "crops");
  Scalar batch = call.outputShape()[0];
  call.result([&](const Position& at) {
    Position from = at;
    Scalar block = call.integer(0);
    for (size_t i = 0; i < blocks.shape.size(); ++i) {
      Scalar whole = at[i + 1] + call.integer(blocks.widths[i][0]);
      block = block * call.integer(blocks.shape[i]) + floorMod(whole, blocks.shape[i]);
      from[i + 1] = floorDivide(whole, blocks.shape[i]);
    }
    from[0] = block * batch + at[0];
    return x(from);
  });
}

constexpr OperandRow data[] = {{"data", "the input"}};
constexpr AttributeRow pictureAttributes[] = {
    {"block_size", AttributeKind::Int, "1", "the height and width of a block"},
    {"layout", AttributeKind::String, "\"NCHW\"", "the layout of the input and the result"},
    {"mode", AttributeKind::String, "\"DCR\"",
     "`DCR`: channels count places in the block first; `CDR`, or `CRD` as ONNX calls it: the "
     "channels of the result first"}};
constexpr AttributeRow spaceToBatchAttributes[] = {
    {"block_shape", AttributeKind::IntList, "[1, 1]", "the extents of a block"},
    {"paddings", AttributeKind::IntListList, "", "how much to pad each spatial dimension"},
    {"pad_value", AttributeKind::Float, "0f", "what the padding holds"}};
constexpr AttributeRow batchToSpaceAttributes[] = {
    {"block_shape", AttributeKind::IntList, "[1, 1]", "the extents of a block"},
    {"crops", AttributeKind::IntListList, "", "how much to cut off each spatial dimension"}};

constexpr Example depthToSpaceExamples[] = {
    {"nn.depth_to_space([[[[1]], [[2]], [[3]], [[4]]]], block_size=2)", "[[[[1, 2], [3, 4]]]]"},
    {"nn.depth_to_space([[[[1]], [[2]], [[3]], [[4]], [[5]], [[6]], [[7]], [[8]]]], "
     "block_size=2, mode=\"CRD\")",
     "[[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]]"},
    {"nn.depth_to_space([[[[1]], [[2]], [[3]], [[4]], [[5]], [[6]], [[7]], [[8]]]], "
     "block_size=2, mode=\"CDR\")",
     "[[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]]"},
    {"nn.depth_to_space([[[[1]], [[2]]]], block_size=2)",
     "zeros(shape=[1, 0, 2, 2], dtype=\"int32\")"}};
constexpr Example spaceToDepthExamples[] = {
    {"nn.space_to_depth([[[[1, 2], [3, 4]]]], block_size=2)", "[[[[1]], [[2]], [[3]], [[4]]]]"}};
constexpr Example spaceToBatchExamples[] = {
    {"nn.space_to_batch_nd([[1, 2, 3]], block_shape=[2], paddings=[[1, 0]])", "[[0, 2], [1, 3]]"}};
constexpr Example batchToSpaceExamples[] = {
    {"nn.batch_to_space_nd([[0, 2], [1, 3]], block_shape=[2], crops=[[1, 0]])", "[[1, 2, 3]]"},
    {"nn.batch_to_space_nd([[1, 2]], block_shape=[2], crops=[[1, 0]])",
     "zeros(shape=[0, 3], dtype=\"int32\")"}};

/// The inverse of a rearrangement, with zeros at the ends for what the blocks left over.
void giveInverse(GradientCall& d, const Term& inverse) {
  Term whole = d.operand(0);
  auto fits = [&](size_t i) { return matchDims(whole.dim(i), inverse.dim(i)) == DimMatch::Same; };
  bool isWhole = std::ranges::all_of(allAxes(whole.rank()), fits);
  give(d, 0, isWhole ? inverse : placedAtStart(inverse, whole));
}

void depthToSpaceGradient(GradientCall& d) {
  int64_t block = d.attributes().integer("block_size");
  std::string_view layout = d.attributes().text("layout");
  Term inverse =
      d.call("nn.space_to_depth", {d.cotangent()}, {{"block_size", block}, {"layout", layout}});
  if (d.attributes().text("mode") != "DCR") {
    // space_to_depth puts the place in the block first; the others have the channel first.
    size_t axis = *parseLayout(layout)->find('C');
    std::vector<int64_t> split(inverse.rank(), 0), joined(inverse.rank(), 0);
    split[axis] = -4;
    split.insert(split.begin() + ptrdiff_t(axis) + 1, {block * block, -1});
    joined[axis] = -3;
    std::vector<size_t> order = allAxes(inverse.rank() + 1);
    std::swap(order[axis], order[axis + 1]);
    inverse = reshaped(transposed(reshaped(inverse, split), order), joined);
  }
  giveInverse(d, inverse);
}

void spaceToDepthGradient(GradientCall& d) {
  int64_t block = d.attributes().integer("block_size");
  Term inverse = d.call("nn.depth_to_space", {d.cotangent()},
                        {{"block_size", block}, {"layout", d.attributes().get("layout")}});
  giveInverse(d, inverse);
}

void spaceToBatchGradient(GradientCall& d) {
  give(d, 0,
       d.call("nn.batch_to_space_nd", {d.cotangent()},
              {{"block_shape", d.attributes().get("block_shape")},
               {"crops", d.attributes().get("paddings")}}));
}

void batchToSpaceGradient(GradientCall& d) {
  Term inverse = d.call("nn.space_to_batch_nd", {d.cotangent()},
                        {{"block_shape", d.attributes().get("block_shape")},
                         {"paddings", d.attributes().get("crops")}});
  giveInverse(d, inverse);
}

constexpr OperatorRow rows[] = {
    {.name = "nn.depth_to_space",
     .synonyms = "pixel_shuffle",
     .doc = "Spreads groups of channels out into blocks of a larger picture.",
     .details = "The height and width grow by `block_size`, the channels shrink by its square; "
                "those beyond the last whole block are not used.",
     .operands = data,
     .attributes = pictureAttributes,
     .attributesKey = "relay.attrs.SubPixelAttrs",
     .relation = depthToSpaceRelation,
     .compute = computeDepthToSpace,
     .gradient = GradientRule{depthToSpaceGradient},
     .examples = depthToSpaceExamples},
    {.name = "nn.space_to_depth",
     .synonyms = "pixel_unshuffle",
     .doc = "Gathers the blocks of a picture into channels.",
     .details =
         "The order of the channels is that of mode `DCR`; `mode` is not looked at. Rows and "
         "columns beyond the last whole block are not used.",
     .operands = data,
     .attributes = pictureAttributes,
     .attributesKey = "relay.attrs.SubPixelAttrs",
     .relation = spaceToDepthRelation,
     .compute = computeSpaceToDepth,
     .gradient = GradientRule{spaceToDepthGradient},
     .examples = spaceToDepthExamples},
    {.name = "nn.space_to_batch_nd",
     .doc = "Pads the spatial dimensions and moves each place within their blocks into the batch.",
     .details = "Dimensions 1 to the length of `block_shape` are the spatial ones.",
     .operands = data,
     .attributes = spaceToBatchAttributes,
     .attributesKey = "relay.attrs.SpaceToBatchNDAttrs",
     .relation = spaceToBatchRelation,
     .compute = computeSpaceToBatch,
     .gradient = GradientRule{spaceToBatchGradient},
     .examples = spaceToBatchExamples},
    {.name = "nn.batch_to_space_nd",
     .doc = "Moves parts of the batch into blocks of the spatial dimensions and crops them.",
     .details =
         "Undoes `nn.space_to_batch_nd`. Batch items beyond the last whole block are not used.",
     .operands = data,
     .attributes = batchToSpaceAttributes,
     .attributesKey = "relay.attrs.BatchToSpaceNDAttrs",
     .relation = batchToSpaceRelation,
     .compute = computeBatchToSpace,
     .gradient = GradientRule{batchToSpaceGradient},
     .examples = batchToSpaceExamples},
};

} // namespace

OperatorFamily blocksFamily() {
  return rows;
}

} // namespace stdlib
