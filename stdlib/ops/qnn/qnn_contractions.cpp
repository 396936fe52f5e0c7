// Convolutions and products of matrices of quantised integers.
//
// They are the plain ones of the numbers less their zero points, so that padding, which stands for
// a real zero, adds nothing. Scales have no part in that: the result has their product as its
// scale, and a zero point of 0. TVM multiplies out the differences, which gives the same integers
// for sums that wrap.
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/conv_forms.h"
#include "stdlib/ops/conv/dense_forms.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/qnn/quantized.h"

#include <functional>

namespace stdlib {

using runtime::DType;

namespace {

using namespace lang;

constexpr OperandRow operands[] = {
    {"data", "the quantised tensor that the window slides over"},
    {"weight", "the quantised factors of the window's taps"},
    {"input_zero_point", "the int32 zero point of `data`, a scalar"},
    {"kernel_zero_point", "the int32 zero point of `weight`, a scalar or one per channel `O`"},
    {"input_scale", "the float32 scale of `data`, a scalar"},
    {"kernel_scale", "the float32 scale of `weight`, a scalar or one per channel of the result"},
};
constexpr OperandRow denseOperands[] = {
    {"data", "quantised rows of features"},
    {"weight", "the quantised matrix of weights"},
    {"input_zero_point", "the int32 zero point of `data`, a scalar"},
    {"kernel_zero_point", "the int32 zero point of `weight`, a scalar or one per unit"},
    {"input_scale", "the float32 scale of `data`, a scalar"},
    {"kernel_scale", "the float32 scale of `weight`, a scalar or one per unit"},
};
constexpr OperandRow batchOperands[] = {
    {"x", "one quantised matrix, or one per batch"},
    {"y", "one quantised matrix, or one per batch"},
    {"x_zero_point", "the int32 zero point of `x`, a scalar"},
    {"y_zero_point", "the int32 zero point of `y`, a scalar"},
    {"x_scale", "the float32 scale of `x`, a scalar"},
    {"y_scale", "the float32 scale of `y`, a scalar"},
};

/// Where zero points and scales stand among the operands.
enum Parameter : size_t { DataZero = 2, WeightZero = 3, DataScale = 4, WeightScale = 5 };

/// The answer of a plain relation on data and weight.
template <typename Plain>
RelationResult plainAnswer(const RelationCall& call, Plain&& plain) {
  RelationCall question = call;
  question.operands = call.operands.first(2);
  question.values = call.values.first(std::min<size_t>(call.values.size(), 2));
  return plain(question);
}

/// What a zero point and a scale may be vectors of; null where they must be scalars.
struct Channels {
  const Dim* zeroPoint = nullptr;
  const Dim* scale = nullptr;
};

/// Checks the zero points and scales of data and weight.
RelationResult withParameters(const RelationCall& call, RelationResult result,
                              std::span<const OperandRow> rows, Channels data, Channels weight) {
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  // As in TVM, a vector of one is a kernel's zero point for all channels.
  if (weight.zeroPoint && call.rank(WeightZero) == 1)
    weight.zeroPoint = oneOrAll(call, call.shape(WeightZero)[0], weight.zeroPoint);
  auto demand = [&](size_t i, DType dtype, const Dim* channels) {
    return demandParameter(call, result, i, rows[i].name, dtype, channels);
  };
  bool isGood = demand(DataZero, runtime::Int32, data.zeroPoint) &&
                demand(WeightZero, runtime::Int32, weight.zeroPoint) &&
                demand(DataScale, runtime::Float32, data.scale);
  if (isGood)
    demand(WeightScale, runtime::Float32, weight.scale);
  return result;
}

/// The number of channels `O` that the weight has, over all groups if it has an axis for them.
const Dim* weightChannels(const RelationCall& call, const ConvAttributes& conv) {
  auto shape = *convertShape(call.types, conv.weight, conv.canonicalWeight, call.shape(1));
  Layout layout = conv.canonicalWeight;
  const Dim* channels = shape[*layout.find('O')];
  return conv.hasGroupAxis() ? call.types.multiply(shape[0], channels) : channels;
}

/// The channels of a convolution's result.
const Dim* resultChannels(const RelationCall& call, const ConvAttributes& conv,
                          const Type* result) {
  return (*convertShape(call.types, conv.result, conv.canonicalData, result->shape))[1];
}

using Plain = RelationResult (*)(const RelationCall& call, size_t dims);

template <Plain plain, ConvKind kind>
RelationResult relateConv(const RelationCall& call) {
  constexpr bool isTransposed = kind == ConvKind::Transposed;
  auto ofData =
      isTransposed
          ? requireElements(call, 0, "data",
                            {runtime::Int8, runtime::UInt8, runtime::Int16, runtime::UInt16})
          : requireElements(call, 0, "data", {runtime::Int8, runtime::UInt8, runtime::Int16});
  if (ofData)
    return *ofData;
  auto ofWeight = isTransposed ? requireElements(call, 1, "weight", {runtime::Int8, runtime::UInt8})
                               : requireElements(call, 1, "weight",
                                                 {runtime::Int8, runtime::UInt8, runtime::Int16});
  if (ofWeight)
    return *ofWeight;
  if (auto problem = requireOutDType(call, {runtime::Int16, runtime::Int32, runtime::Int64}))
    return *problem;
  RelationResult result =
      plainAnswer(call, [](const RelationCall& question) { return plain(question, 2); });
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  ConvAttributes conv = *readConv(call.attributes, 2, kind);
  const Dim* one = isTransposed ? call.types.constant(1) : nullptr;
  Channels weight{weightChannels(call, conv), resultChannels(call, conv, result.output)};
  return withParameters(call, std::move(result), operands, {one, one}, weight);
}

/// The type in which zero points are taken away: that of the result, but at least int32.
DType differenceType(const ComputeCall& call) {
  DType dtype = call.outputDType();
  return dtype.bytes() < 4 ? runtime::Int32 : dtype;
}

/// Where the zero point of an element is, in a vector of them.
using ChannelOf = std::function<Scalar(const Position& at)>;

/// A tensor less its zero point.
TensorHandle lessZeroPoint(ComputeCall& call, const TensorHandle& tensor,
                           const TensorHandle& zeroPoint, const ChannelOf& channelOf) {
  DType dtype = differenceType(call);
  return call.define(tensor.shape(), [&](const Position& at) {
    Position channel;
    if (zeroPoint.rank() == 1)
      channel.push_back(select(zeroPoint.extent(0) == 1.0, call.integer(0), channelOf(at)));
    return cast(tensor(at), dtype) - cast(zeroPoint(channel), dtype);
  });
}

/// The data, operand 0, less its zero point, which is one for all.
TensorHandle plainData(ComputeCall& call) {
  return lessZeroPoint(call, call.input(0), call.input(DataZero),
                       [&](const Position&) { return call.integer(0); });
}

TensorHandle plainWeight(ComputeCall& call, const ChannelOf& channelOf) {
  return lessZeroPoint(call, call.input(1), call.input(WeightZero), channelOf);
}

using PlainResult = void (*)(ComputeCall& call, const ConvAttributes& conv, TensorHandle data,
                             TensorHandle weight);

template <PlainResult plain, ConvKind kind>
void computeConv(ComputeCall& call) {
  ConvAttributes conv = *readConv(call.attributes(), 2, kind);
  const Layout &weight = conv.weight, &canonical = conv.canonicalWeight;
  size_t outputs = *canonical.find('O');
  Scalar members = convertExtents(weight, canonical, call.input(1).shape())[outputs];
  auto channelOf = [&](const Position& at) {
    Position where = convertPosition(weight, canonical, at);
    return conv.hasGroupAxis() ? where[0] * members + where[outputs] : where[outputs];
  };
  plain(call, conv, plainData(call), plainWeight(call, channelOf));
}

RelationResult relateDense(const RelationCall& call) {
  if (auto problem = requireElements(
          call, 0, "data", {runtime::Int8, runtime::UInt8, runtime::Int16, runtime::UInt16}))
    return *problem;
  if (auto problem = requireElements(call, 1, "weight", {runtime::Int8, runtime::UInt8}))
    return *problem;
  if (auto problem = requireOutDType(call, {runtime::Int32, runtime::Int64}))
    return *problem;
  RelationResult result = plainAnswer(call, denseRelation);
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  const Dim* units = result.output->shape.back();
  return withParameters(call, std::move(result), denseOperands, {}, {units, units});
}

void computeDense(ComputeCall& call) {
  denseResult(call, plainData(call), plainWeight(call, [](const Position& at) { return at[0]; }));
}

RelationResult relateDensePack(const RelationCall& call) {
  if (call.rank(1) != 4)
    return call.failedAt(1, "`weight` must have 4 dimensions, `[N / n, C / c, n, c]`");
  for (size_t i = 0; i < 2; ++i)
    if (auto problem =
            requireElements(call, i, denseOperands[i].name,
                            {runtime::Int8, runtime::UInt8, runtime::Int16, runtime::UInt16}))
      return *problem;
  if (auto problem = requireOutDType(call, {runtime::Int16, runtime::Int32, runtime::Int64}))
    return *problem;
  RelationResult result = plainAnswer(call, packedDenseRelation);
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  const Dim* units = result.output->shape.back();
  return withParameters(call, std::move(result), denseOperands, {}, {units, units});
}

void computeDensePack(ComputeCall& call) {
  Scalar tile = call.input(1).extent(2);
  packedDenseResult(call, plainData(call),
                    plainWeight(call, [&](const Position& at) { return at[0] * tile + at[2]; }));
}

RelationResult relateBatches(const RelationCall& call) {
  for (size_t i = 0; i < 2; ++i)
    if (auto problem =
            requireElements(call, i, batchOperands[i].name, {runtime::Int8, runtime::UInt8}))
      return *problem;
  if (auto problem = requireOutDType(call, {runtime::Int32}))
    return *problem;
  return withParameters(call, plainAnswer(call, batchMatmulRelation), batchOperands, {}, {});
}

void computeBatches(ComputeCall& call) {
  auto nowhere = [&](const Position&) { return call.integer(0); };
  batchMatmulResult(call, plainData(call), plainWeight(call, nowhere));
}

constexpr auto convRows = convAttributes(2);
constexpr auto transposeRows = convTransposeAttributes(2);
constexpr AttributeRow unitsRow{"units", AttributeKind::Int, "",
                                "columns of the result; None takes them from the weight", true};
constexpr AttributeRow outDTypeRow{"out_dtype", AttributeKind::DType, "\"\"",
                                   "element type of sum and result; it must be given"};
constexpr AttributeRow denseAttributes[] = {unitsRow, outDTypeRow};
constexpr AttributeRow packAttributes[] = {
    unitsRow,
    outDTypeRow,
    {"weight_layout", AttributeKind::String, "\"NC\"",
     "how the weight is packed; it has no effect, for the shape tells it"},
};
constexpr AttributeRow batchAttributes[] = {
    outDTypeRow,
    {"transpose_a", AttributeKind::Bool, "False",
     "exchange the last two dimensions of the first operand"},
    {"transpose_b", AttributeKind::Bool, "False",
     "exchange the last two dimensions of the second operand"},
};

constexpr std::string_view convDetails =
    "The convolution of `data - input_zero_point` and `weight - kernel_zero_point`; padding adds "
    "nothing. Sums wrap in `out_dtype`, which must be int16, int32 or int64. The result stands for "
    "numbers of the scale `input_scale * kernel_scale` and the zero point 0; the scales are "
    "checked "
    "and not used. A kernel zero point for each channel is read along the axis `O` of the weight.";
constexpr std::string_view transposeDetails =
    "The transposed convolution of `data - input_zero_point` and `weight - kernel_zero_point`; see "
    "qnn.conv2d. The operands stand in the order in which TVM takes them, which is not that of its "
    "own list of them. The parameters of the data may be vectors of one.";
constexpr std::string_view denseDetails =
    "The product of `data - input_zero_point` and `weight - kernel_zero_point`; see qnn.conv2d. "
    "`out_dtype` must be int32 or int64.";
constexpr std::string_view packDetails =
    "qnn.dense with a weight packed as `[N / n, C / c, n, c]`, see nn.contrib_dense_pack. TVM "
    "types it but does not compute it.";
constexpr std::string_view batchDetails =
    "The products of `x - x_zero_point` and `y - y_zero_point`; see qnn.conv2d. `out_dtype` must "
    "be int32. TVM computes it only with `transpose_b` and without `transpose_a`.";

constexpr Example convExamples[] = {
    {"qnn.conv2d(cast([[[[3, 4, 5]]]], dtype=\"uint8\"), cast([[[[2, 11]]]], dtype=\"uint8\"), 2, "
     "1, 0.5f, 0.25f, padding=[0, 1], out_dtype=\"int32\")",
     "[[[[10, 21, 32, 3]]]]"},
    {"qnn.conv2d(cast([[[[3]], [[4]]]], dtype=\"int8\"), cast([[[[2]]], [[[11]]]], "
     "dtype=\"int8\"), 2, [1, 10], 0.5f, [0.25f, 0.5f], groups=2, channels=2, kernel_size=[1, 1], "
     "out_dtype=\"int32\")",
     "[[[[1]], [[2]]]]"},
};
constexpr Example transposeExamples[] = {
    {"qnn.conv2d_transpose(cast([[[[3, 4]]]], dtype=\"uint8\"), cast([[[[2, 11]]]], "
     "dtype=\"uint8\"), 2, 1, 0.5f, 0.25f, out_dtype=\"int32\")",
     "[[[[1, 12, 20]]]]"},
};
constexpr Example denseExamples[] = {
    {"qnn.dense(cast([[3, 4]], dtype=\"uint8\"), cast([[2, 11], [1, 2]], dtype=\"int8\"), 2, [1, "
     "0], 0.5f, [0.25f, 0.5f], units=2, out_dtype=\"int32\")",
     "[[21, 5]]"},
};
constexpr Example packExamples[] = {
    {"qnn.contrib_dense_pack(cast([[3, 4]], dtype=\"uint8\"), cast([[[[2], [1]], [[11], [2]]]], "
     "dtype=\"int8\"), 2, [1, 0], 0.5f, 0.25f, units=2, out_dtype=\"int32\", "
     "weight_layout=\"NC2n1c\")",
     "[[21, 5]]"},
};
constexpr Example batchExamples[] = {
    {"qnn.batch_matmul(cast([[[3, 4]]], dtype=\"int8\"), cast([[[2, 11]]], dtype=\"int8\"), 2, 1, "
     "0.5f, 0.25f, out_dtype=\"int32\", transpose_b=True)",
     "[[[21]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "qnn.conv2d",
        .doc = "Cross-correlates quantised pictures with quantised weights.",
        .details = convDetails,
        .operands = operands,
        .attributes = convRows,
        .attributesKey = "relay.attrs.Conv2DAttrs",
        .relation = relateConv<convRelation, ConvKind::Forward>,
        .compute = computeConv<convResult, ConvKind::Forward>,
        .gradient = integerValued,
        .examples = convExamples,
    },
    {
        .name = "qnn.conv2d_transpose",
        .doc = "The transposed convolution of quantised pictures with quantised weights.",
        .details = transposeDetails,
        .operands = operands,
        .attributes = transposeRows,
        .attributesKey = "relay.attrs.Conv2DTransposeAttrs",
        .relation = relateConv<convTransposeRelation, ConvKind::Transposed>,
        .compute = computeConv<convTransposeResult, ConvKind::Transposed>,
        .gradient = integerValued,
        .examples = transposeExamples,
    },
    {
        .name = "qnn.dense",
        .doc = "Multiplies quantised rows of features with a quantised matrix of weights.",
        .details = denseDetails,
        .operands = denseOperands,
        .attributes = denseAttributes,
        .attributesKey = "relay.attrs.DenseAttrs",
        .relation = relateDense,
        .compute = computeDense,
        .gradient = integerValued,
        .examples = denseExamples,
    },
    {
        .name = "qnn.contrib_dense_pack",
        .doc = "Multiplies quantised rows of features with a quantised weight packed beforehand.",
        .details = packDetails,
        .operands = denseOperands,
        .attributes = packAttributes,
        .attributesKey = "relay.attrs.DensePackAttrs",
        .relation = relateDensePack,
        .compute = computeDensePack,
        .gradient = integerValued,
        .examples = packExamples,
    },
    {
        .name = "qnn.batch_matmul",
        .doc = "Products of quantised matrices, batch by batch.",
        .details = batchDetails,
        .operands = batchOperands,
        .attributes = batchAttributes,
        .attributesKey = "relay.attrs.BatchMatmulAttrs",
        .relation = relateBatches,
        .compute = computeBatches,
        .gradient = integerValued,
        .examples = batchExamples,
    },
};

} // namespace

OperatorFamily qnnContractionsFamily() {
  return rows;
}

} // namespace stdlib
