// Grey-scale dilation: windows that slide over pictures and take maxima, not sums.
//
// Padding is zeros, also under the maximum.
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/conv_call.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/pictures/picture_samples.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::Checked;
using runtime::DType;
using runtime::Problem;

/// The attributes of image.dilation2d.
struct Dilation {
  Window window;
  Layout data, weight;
};

/// The layouts that the rule of a dilation is written in.
Layout dilationData() {
  return *parseLayout("NCHW");
}
Layout dilationWeight() {
  return *parseLayout("IHW");
}

Checked<Dilation> readDilation(const Attributes& attributes) {
  auto window = readWindow(attributes, 2, "dilations");
  if (!window)
    return window.failure();
  Layout nchw = dilationData(), ihw = dilationWeight();
  auto data = readLayout(attributes, "data_layout", nchw, nchw);
  if (!data)
    return data.failure();
  auto weight = readLayout(attributes, "kernel_layout", ihw, ihw);
  if (!weight)
    return weight.failure();
  return Dilation{*window, *data, *weight};
}

RelationResult dilationRelation(const RelationCall& call) {
  auto dilation = readDilation(call.attributes);
  if (!dilation)
    return call.failed(dilation.failure());
  Layout nchw = dilationData(), ihw = dilationWeight();
  auto shape = convertShape(call.types, dilation->data, nchw, call.shape(0));
  if (!shape)
    return call.failedAt(0, shape.failure());
  auto weight = convertShape(call.types, dilation->weight, ihw, call.shape(1));
  if (!weight)
    return call.failedAt(1, weight.failure());
  if (auto other = requireLikeNumbers(call))
    return *other;
  if (call.differ((*shape)[1], (*weight)[0]))
    return call.failedOn({{1, *dilation->weight.find('I')}, {0, *dilation->data.find('C')}},
                         fmt::format("the data has {} channels, but the weight has {}",
                                     dimText((*shape)[1]), dimText((*weight)[0])));
  std::vector<const Dim*> data(*shape);
  for (size_t i = 0; i < 2; ++i) {
    const Dim* taps = (*weight)[1 + i];
    if (taps->isConstant(0))
      return call.failedAt(
          1, fmt::format("the weight, of shape {}, has no taps", shapeText(call.shape(1))));
    auto positions = windowExtent(call, (*shape)[2 + i], taps, dilation->window, i, false);
    if (!positions)
      return call.failedAt(0, positions.failure());
    (*shape)[2 + i] = *positions;
  }
  RelationResult result =
      solvedInLayout(call, nchw, dilation->data, *shape,
                     call.attributes.dtype("out_dtype").value_or(call.dtype(0)));
  for (size_t i = 0; i < 2; ++i)
    requireWindow(result, call, data[2 + i], (*weight)[1 + i], dilation->window, i);
  return result;
}

/// The windows of a call: the sum at a tap of the window that makes an element of the result, both
/// in canonical layouts.
struct DilationWindows {
  Dilation dilation;
  Extents taps;
  std::function<Scalar(const Position& at, const Position& tap)> sum;

  DilationWindows(ComputeCall& call, runtime::DType dtype)
      : dilation(*readDilation(call.attributes())) {
    const Window& window = dilation.window;
    auto dataAt = canonicalReader(call, call.input(0), dilationData(), dilation.data,
                                  window.isPadded(), dtype);
    auto weightAt =
        canonicalReader(call, call.input(1), dilationWeight(), dilation.weight, false, dtype);
    Extents weight = convertExtents(dilation.weight, dilationWeight(), call.input(1).shape());
    taps = {weight[1], weight[2]};
    sum = [=](const Position& at, const Position& tap) {
      Position from{at[0], at[1]};
      for (size_t i = 0; i < 2; ++i)
        from.push_back(at[2 + i] * double(window.strides[i]) + tap[i] * double(window.dilation[i]) -
                       double(window.before[i]));
      return dataAt(from) + weightAt({at[1], tap[0], tap[1]});
    };
  }
};

void computeDilation(ComputeCall& call) {
  DilationWindows windows(call, call.outputDType());
  call.result([&](const Position& place) {
    Position at = convertPosition(windows.dilation.data, dilationData(), place);
    return call.maximumOver(windows.taps,
                            [&](const Position& tap) { return windows.sum(at, tap); });
  });
}

RelationResult dilationTapsRelation(const RelationCall& call) {
  RelationResult result = dilationRelation(call);
  if (result.outcome == RelationResult::Outcome::Solved)
    result.output = call.types.tensor(result.output->shape, runtime::Int64);
  return result;
}

void computeDilationTaps(ComputeCall& call) {
  DType dtype = call.attributes().dtype("out_dtype").value_or(call.input(0).dtype());
  DilationWindows windows(call, dtype);
  call.result([&](const Position& place) {
    Position at = convertPosition(windows.dilation.data, dilationData(), place);
    return call.reduce(
        Combiner::ArgMaximum, windows.taps,
        [&](const Position& tap) { return windows.sum(at, tap); }, runtime::Int64);
  });
}

/// The cotangent of an element goes to what its greatest tap reads and to the weight of that tap.
void dilationGradient(GradientCall& d) {
  Dilation dilation = *readDilation(d.attributes());
  DType wide = wideFloat(d.operand(0).dtype(), d.cotangent().dtype());
  Layout nchw = dilationData(), ihw = dilationWeight();
  Term data = inLayout(castTo(d.operand(0), wide), dilation.data, nchw);
  Term weight = inLayout(castTo(d.operand(1), wide), dilation.weight, ihw);
  Term cotangent = expandDims(inLayout(d.cotangent(), dilation.data, nchw), 4);
  Term taps =
      inLayout(d.call("image.dilation2d_taps", {d.operand(0), d.operand(1)}, sameAttributes(d)),
               dilation.data, nchw);
  Term width = extentOf(weight, 2), down = d.call("floor_divide", {taps, width});
  std::vector<Term> tap{down, taps - down * width};
  std::vector<Taps<Term>> places, numbers;
  for (size_t i = 0; i < 2; ++i) {
    Term start = positionsAlong(cotangent, 2 + i) * double(dilation.window.strides[i]) -
                 double(dilation.window.before[i]);
    Term place = alongAxis(start, 2 + i, 4) + tap[i] * double(dilation.window.dilation[i]);
    places.push_back({{place}});
    numbers.push_back({{tap[i]}});
  }
  Term channel = alongAxis(positionsAlong(data, 1), 1, 4);
  Term picture = alongAxis(positionsAlong(data, 0), 0, 4) * extentOf(data, 1) + channel;
  Term pictures = reshaped(expandDims(data, 4), {-3, -2});
  Term byData = toPictures(samplesOf(pictures, picture, places), cotangent);
  give(d, 0,
       castTo(inLayout(reshapedLike(byData, data), nchw, dilation.data), d.operand(0).dtype()));
  Term byWeight = toPictures(samplesOf(expandDims(weight, 3), channel, numbers), cotangent);
  give(
      d, 1,
      castTo(inLayout(reshapedLike(byWeight, weight), ihw, dilation.weight), d.operand(1).dtype()));
}

constexpr OperandRow dilationOperands[] = {
    {"data", "the pictures"},
    {"weight", "what is added at each tap, per channel"},
};
constexpr auto convRows = convAttributes(2);
constexpr AttributeRow strides = convRows[0], padding = convRows[1], dataLayout = convRows[6];

constexpr AttributeRow dilationAttributes[] = {
    strides,
    padding,
    {"dilations", AttributeKind::IntList, "[1, 1]", "distances of the taps of the window"},
    dataLayout,
    {"kernel_layout", AttributeKind::String, "\"IHW\"", "layout of the weight"},
    {"out_dtype", AttributeKind::DType, "\"\"",
     "element type of the result; that of the data if empty"},
};
constexpr Example dilationTapsExamples[] = {
    {"image.dilation2d_taps([[[[1f, 5f, 2f]]]], [[[0f, 1f]]])", "[[[[1i64, 0i64]]]]"},
};
constexpr GradientExample dilationGradients[] = {
    {"image.dilation2d([[[[1f, 5f, 2f]]]], [[[0f, 1f]]])", "[[[[3f, 4f]]]]",
     "([[[[0f, 7f, 0f]]]], [[[4f, 3f]]])"},
    {"image.dilation2d([[[[2f, 2f]]]], [[[0f, 0f]]])", "[[[[3f]]]]",
     "([[[[3f, 0f]]]], [[[3f, 0f]]])"},
};
constexpr NoGradient holdsTaps = {"the result holds positions"};
constexpr Example dilationExamples[] = {
    {"image.dilation2d([[[[1f, 5f, 2f]]]], [[[0f, 1f]]])", "[[[[6f, 5f]]]]"},
};
constexpr OperatorRow rows[] = {
    {
        .name = "image.dilation2d",
        .doc = "The greatest sum of an element and its tap's weight in each window.",
        .details = "Padding counts as zeros. Of equal greatest sums in a window the first one, in "
                   "row-major order, gets the gradient.",
        .operands = dilationOperands,
        .attributes = dilationAttributes,
        .attributesKey = "relay.attrs.Dilation2DAttrs",
        .relation = dilationRelation,
        .compute = computeDilation,
        .gradient = GradientRule{dilationGradient, dilationGradients},
        .examples = dilationExamples,
    },
    {
        .name = "image.dilation2d_taps",
        .doc = "Which taps make the greatest sums of image.dilation2d.",
        .details = "The number of the tap in row-major order; of equal sums in a window the first "
                   "one counts. `out_dtype` is the type of the sums; the result is int64.",
        .operands = dilationOperands,
        .attributes = dilationAttributes,
        .attributesKey = "relay.attrs.Dilation2DAttrs",
        .relation = dilationTapsRelation,
        .compute = computeDilationTaps,
        .gradient = holdsTaps,
        .examples = dilationTapsExamples,
    },
};

} // namespace

OperatorFamily slidingFamily() {
  return rows;
}

} // namespace stdlib
