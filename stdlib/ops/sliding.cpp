// Windows that slide over pictures for other ends than convolution: grey-scale dilation and the
// correlation of two pictures.
//
// Padding is zeros in both, also under the maximum of a dilation.
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv_call.h"
#include "stdlib/ops/families.h"

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
  if (matchDims((*shape)[1], (*weight)[0]) == DimMatch::Different)
    return call.failedOn({{1, *dilation->weight.find('I')}, {0, *dilation->data.find('C')}},
                         fmt::format("the data has {} channels, but the weight has {}",
                                     dimText((*shape)[1]), dimText((*weight)[0])));
  std::vector<const Dim*> data(*shape);
  for (size_t i = 0; i < 2; ++i) {
    const Dim* taps = (*weight)[1 + i];
    if (taps->isConstant(0))
      return call.failedAt(
          1, fmt::format("the weight, of shape {}, has no taps", shapeText(call.shape(1))));
    auto positions = windowPositions(call.types, (*shape)[2 + i], taps, dilation->window, i, false);
    if (!positions)
      return call.failedAt(0, positions.failure());
    (*shape)[2 + i] = *positions;
  }
  RelationResult result =
      solvedInLayout(call, nchw, dilation->data, *shape,
                     call.attributes.dtype("out_dtype").value_or(call.dtype(0)));
  for (size_t i = 0; i < 2; ++i)
    requireWindow(result, call.types, data[2 + i], (*weight)[1 + i], dilation->window, i);
  return result;
}

void computeDilation(ComputeCall& call) {
  Dilation dilation = *readDilation(call.attributes());
  const Window& window = dilation.window;
  Layout nchw = dilationData(), ihw = dilationWeight();
  TensorHandle weight = call.input(1);
  auto dataAt = canonicalReader(call, call.input(0), nchw, dilation.data, window.isPadded());
  auto weightAt = canonicalReader(call, weight, ihw, dilation.weight, false);
  Extents taps = convertExtents(dilation.weight, ihw, weight.shape());
  call.result([&](const Position& place) {
    Position at = convertPosition(dilation.data, nchw, place);
    return call.maximumOver({taps[1], taps[2]}, [&](const Position& tap) {
      Position from{at[0], at[1]};
      for (size_t i = 0; i < 2; ++i)
        from.push_back(at[2 + i] * double(window.strides[i]) + tap[i] * double(window.dilation[i]) -
                       double(window.before[i]));
      return dataAt(from) + weightAt({at[1], tap[0], tap[1]});
    });
  });
}

/// The attributes of nn.correlation; `reach` is the distance of the window's centre from the border
/// and `ways` the number of displacements along one dimension.
struct Correlation {
  Window window;
  int64_t kernel, displacement, stride, step, reach, ways;
};

Checked<Correlation> readCorrelation(const Attributes& attributes) {
  Correlation correlation{};
  std::optional<Problem> problem;
  auto read = [&](std::string_view name, int64_t least) -> int64_t {
    int64_t value = attributes.integer(name);
    constexpr int64_t most = 1 << 20;
    if (value < least || value > most)
      problem = Problem{
          fmt::format("`{}` must be from {} to {}, but it is {}", name, least, most, value)};
    return value;
  };
  correlation.kernel = read("kernel_size", 1);
  correlation.displacement = read("max_displacement", 0);
  correlation.stride = read("stride1", 1);
  correlation.step = read("stride2", 1);
  if (problem)
    return *problem;
  if (correlation.kernel % 2 == 0)
    return Problem{fmt::format("`kernel_size` must be odd, but it is {}", correlation.kernel)};
  if (attributes.text("layout") != "NCHW")
    return Problem{
        fmt::format("`layout` must be `NCHW`, but it is `{}`", attributes.text("layout"))};
  if (auto unreadable = readPadding(attributes, 2, correlation.window))
    return *unreadable;
  correlation.reach = correlation.displacement + (correlation.kernel - 1) / 2;
  correlation.ways = 2 * (correlation.displacement / correlation.step) + 1;
  return correlation;
}

RelationResult correlationRelation(const RelationCall& call) {
  auto correlation = readCorrelation(call.attributes);
  if (!correlation)
    return call.failed(correlation.failure());
  if (call.rank(0) != 4)
    return call.failedAt(0, fmt::format("the data must have 4 dimensions, but its shape is {}",
                                        shapeText(call.shape(0))));
  bool agrees = call.rank(1) == 4 && call.dtype(0) == call.dtype(1);
  for (size_t i = 0; agrees && i < 4; ++i)
    agrees = matchDims(call.shape(0)[i], call.shape(1)[i]) != DimMatch::Different;
  if (!agrees)
    return call.failedAt(1, fmt::format("both pictures must have one type, but they are `{}` and "
                                        "`{}`",
                                        typeText(call.operands[0]), typeText(call.operands[1])));
  TypeContext& types = call.types;
  std::vector<const Dim*> shape{call.shape(0)[0],
                                types.constant(correlation->ways * correlation->ways)};
  for (size_t i = 0; i < 2; ++i) {
    int64_t added = correlation->window.before[i] + correlation->window.after[i];
    const Dim* extent = call.shape(0)[2 + i];
    const Dim* room = types.add(extent, types.constant(added - 2 * correlation->reach));
    if (room->isConstant() && room->value < 1)
      return call.failed(fmt::format("an extent of {}, which with padding is {}, has no place "
                                     "at least {} away from both borders",
                                     dimText(extent), room->value + 2 * correlation->reach,
                                     correlation->reach));
    const Dim* last = types.add(room, types.constant(correlation->stride - 1));
    shape.push_back(types.floorDivide(last, correlation->stride));
  }
  RelationResult result = call.solved(shape, call.dtype(0));
  for (size_t i = 2; i < 4; ++i)
    requireAtLeast(result, shape[i], 1);
  return result;
}

void computeCorrelation(ComputeCall& call) {
  Correlation correlation = *readCorrelation(call.attributes());
  TensorHandle left = call.input(0), right = call.input(1);
  DType dtype = left.dtype();
  Scalar zero = call.number(dtype, 0), kernel = call.integer(correlation.kernel);
  bool multiplies = call.attributes().boolean("is_multiply");
  int64_t furthest = correlation.displacement / correlation.step;
  call.result([&](const Position& at) {
    Scalar ways[] = {floorDivide(at[1], correlation.ways), floorMod(at[1], correlation.ways)};
    Scalar sum = call.sumOver({left.extent(1), kernel, kernel}, [&](const Position& tap) {
      Position from{at[0], tap[0]}, to{at[0], tap[0]};
      for (size_t i = 0; i < 2; ++i) {
        Scalar place = at[2 + i] * double(correlation.stride) + tap[1 + i] +
                       double(correlation.displacement - correlation.window.before[i]);
        from.push_back(place);
        to.push_back(place + (ways[i] - double(furthest)) * double(correlation.step));
      }
      Scalar a = left.orElse(from, zero), b = right.orElse(to, zero);
      return multiplies ? a * b : apply(ScalarFunction::Abs, {a - b});
    });
    Scalar count = kernel * kernel * left.extent(1);
    if (dtype.isFloat())
      return sum / cast(count, dtype);
    return cast(cast(sum, runtime::Int64) / count, dtype);
  });
}

constexpr OperandRow dilationOperands[] = {
    {"data", "the pictures"},
    {"weight", "what is added at each tap, per channel"},
};
constexpr OperandRow correlationOperands[] = {
    {"data1", "the pictures whose windows stand still"},
    {"data2", "the pictures whose windows are displaced"},
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
constexpr AttributeRow correlationAttributes[] = {
    {"kernel_size", AttributeKind::Int, "1", "the height and width of the windows, odd"},
    {"max_displacement", AttributeKind::Int, "1", "how far windows are displaced at the utmost"},
    {"stride1", AttributeKind::Int, "1", "steps of the windows"},
    {"stride2", AttributeKind::Int, "1", "steps of the displacements"},
    padding,
    {"is_multiply", AttributeKind::Bool, "True",
     "whether elements are multiplied, or the distances of their values taken"},
    {"layout", AttributeKind::String, "\"NCHW\"", "the layout of all pictures, `NCHW`"},
};
constexpr NoGradient comparesValues = {
    "follows the places of the greatest sums, which no operator gives"};
constexpr NoGradient gathersWindows = {
    "adds up displaced windows of one operand, which no operator does"};
constexpr Example dilationExamples[] = {
    {"image.dilation2d([[[[1f, 5f, 2f]]]], [[[0f, 1f]]])", "[[[[6f, 5f]]]]"},
};
constexpr Example correlationExamples[] = {
    {"nn.correlation([[[[2f]]]], [[[[5f]]]], max_displacement=0)", "[[[[10f]]]]"},
    {"nn.correlation([[[[2f]], [[1f]]]], [[[[5f]], [[3f]]]], max_displacement=0, "
     "is_multiply=False)",
     "[[[[2.5f]]]]"},
};
constexpr OperatorRow rows[] = {
    {
        .name = "image.dilation2d",
        .doc = "The greatest sum of an element and its tap's weight in each window.",
        .details = "Padding counts as zeros.",
        .operands = dilationOperands,
        .attributes = dilationAttributes,
        .attributesKey = "relay.attrs.Dilation2DAttrs",
        .relation = dilationRelation,
        .compute = computeDilation,
        .gradient = comparesValues,
        .examples = dilationExamples,
    },
    {
        .name = "nn.correlation",
        .doc = "How alike the windows of one picture and displaced windows of another are.",
        .details = "A channel of the result is one displacement, those down counting slower; an "
                   "element is the mean over channels and taps.",
        .operands = correlationOperands,
        .attributes = correlationAttributes,
        .attributesKey = "relay.attrs.CorrelationAttrs",
        .relation = correlationRelation,
        .compute = computeCorrelation,
        .gradient = gathersWindows,
        .examples = correlationExamples,
    },
};

} // namespace

OperatorFamily slidingFamily() {
  return rows;
}

} // namespace stdlib
