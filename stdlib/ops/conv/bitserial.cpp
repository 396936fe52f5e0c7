// Arithmetic on the bits of small numbers: packing them into words, and sums of products that count
// common bits.
//
// A pair of planes i of the data and j of the weight counts 2^(i+j) for each place where both have
// a bit and, in the unipolar form, takes it away where only the data has one. Over all pairs that
// is a sum of products of numbers, and so it is computed.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/bits.h"
#include "stdlib/ops/conv/conv_forms.h"
#include "stdlib/ops/conv/dense_forms.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/window.h"

#include <fmt/format.h>

namespace stdlib {

using runtime::Checked;
using runtime::DType;
using runtime::Problem;

namespace {

using namespace lang;

Checked<Packing> readPacking(const Attributes& attributes, size_t rank) {
  auto bits = readBits(attributes, "bits");
  if (!bits)
    return bits.failure();
  auto word = readWord(attributes, "pack_type");
  if (!word)
    return word.failure();
  int64_t axis = attributes.integer("pack_axis"), plane = attributes.integer("bit_axis");
  if (axis < 0 || axis >= int64_t(rank))
    return Problem{fmt::format("`pack_axis` is {}, but `data` has {} dimensions", axis, rank)};
  if (plane < 0 || plane > int64_t(rank))
    return Problem{fmt::format("`bit_axis` must be from 0 to {}, but it is {}", rank, plane)};
  return Packing{*bits, size_t(axis), size_t(plane), *word};
}

/// The problem when an operand is not of whole numbers.
std::optional<RelationResult> requireWhole(const RelationCall& call, size_t i,
                                           std::string_view name) {
  if (call.dtype(i).isInteger())
    return std::nullopt;
  return call.failedAt(i,
                       words("`{}` must be of integers, but it is `{}`", name, call.operands[i]));
}

RelationResult relatePack(const RelationCall& call) {
  auto packing = readPacking(call.attributes, call.rank(0));
  if (!packing)
    return call.failed(packing.failure());
  if (auto problem = requireWhole(call, 0, "data"))
    return *problem;
  auto shape = packedShape(call.types, *packing, call.shape(0));
  if (!shape)
    return call.failedOn({{0, packing->axis}}, shape.failure().text);
  RelationResult result = call.solved(*shape, packing->word);
  requireMultiple(result, call.shape(0)[packing->axis], widthOf(packing->word));
  return result;
}

void computePack(ComputeCall& call) {
  TensorHandle data = call.input(0);
  call.result(packed(call, *readPacking(call.attributes(), data.rank()), data));
}

/// What nn.bitserial_dense and nn.bitserial_conv2d have in common.
struct BitSerial {
  int64_t dataBits = 1, weightBits = 1;
  DType word = runtime::UInt32, result = runtime::Int16;
  bool isUnipolar = true;
};

Checked<BitSerial> readBitSerial(const RelationCall& call, std::string_view dataBits) {
  BitSerial serial;
  for (auto [name, field] : {std::pair(dataBits, &serial.dataBits),
                             std::pair(std::string_view("weight_bits"), &serial.weightBits)}) {
    auto bits = readBits(call.attributes, name);
    if (!bits)
      return bits.failure();
    *field = *bits;
  }
  auto word = readWord(call.attributes, "pack_dtype");
  if (!word)
    return word.failure();
  serial.word = *word;
  serial.result = call.attributes.dtype("out_dtype").value_or(call.dtype(0));
  if (!serial.result.isInteger())
    return Problem{"`out_dtype` must be an integer type"};
  serial.isUnipolar = call.attributes.boolean("unipolar");
  return serial;
}

/// The problem when a weight that is packed has other words, or one that is not has no integers.
std::optional<RelationResult> requireWeight(const RelationCall& call, const BitSerial& serial,
                                            bool isPacked) {
  if (!isPacked)
    return requireWhole(call, 1, "weight");
  if (call.dtype(1) == serial.word)
    return std::nullopt;
  return call.failedAt(
      1, words("a packed weight must be of `{}`, but it is `{}`", serial.word, call.operands[1]));
}

/// The weight that is packed or not, given the shape that it has unpacked.
bool demandWeight(const RelationCall& call, RelationResult& result, const BitSerial& serial,
                  Packing packing, const std::vector<const Dim*>& shape) {
  bool isPacked = call.rank(1) == shape.size() + 1;
  if (auto problem = requireWeight(call, serial, isPacked)) {
    result = *problem;
    return false;
  }
  auto words = packedShape(call.types, packing, shape);
  if (!words) {
    result = call.failedAt(0, words.failure());
    return false;
  }
  // The planes of a packed weight are as many as it has.
  if (isPacked)
    (*words)[packing.plane] = call.shape(1)[packing.plane];
  return demandOperand(call, result, 1, "weight",
                       call.types.tensor(isPacked ? *words : shape, call.dtype(1)));
}

/// How a dense weight is packed.
Packing densePacking(const BitSerial& serial) {
  return {serial.weightBits, 1, 1, serial.word};
}

RelationResult relateDense(const RelationCall& call) {
  auto serial = readBitSerial(call, "data_bits");
  if (!serial)
    return call.failed(serial.failure());
  if (auto problem = requireWhole(call, 0, "data"))
    return *problem;
  if (call.rank(0) == 0)
    return call.failedAt(0, "`data` must have at least 1 dimension");
  int64_t units = call.attributes.integer("units");
  if (units < 0)
    return call.failed(fmt::format("`units` must not be negative, but it is {}", units));
  std::vector<const Dim*> shape(call.shape(0).begin(), call.shape(0).end());
  const Dim* features = shape.back();
  shape.back() = call.types.constant(units);
  RelationResult result = call.solved(shape, serial->result);
  requireMultiple(result, features, widthOf(serial->word));
  demandWeight(call, result, *serial, densePacking(*serial), {shape.back(), features});
  return result;
}

/// The attributes of a call that the relation accepted; only the type of the data counts of it.
BitSerial bitSerialOf(const ComputeCall& call, std::string_view dataBits) {
  const Attributes& attributes = call.attributes();
  return {attributes.integer(dataBits), attributes.integer("weight_bits"),
          *attributes.dtype("pack_dtype"), call.outputDType(), attributes.boolean("unipolar")};
}

/// The numbers that the weight stands for: what its planes say or, in the unipolar form, 1 or -1
/// times the power of two of each plane, which makes 2 * weight - (2^planes - 1).
TensorHandle weightNumbers(ComputeCall& call, const BitSerial& serial, const Packing& packing,
                           bool isPacked) {
  TensorHandle weight = call.input(1);
  TensorHandle numbers = isPacked ? unpacked(call, packing, weight, serial.result)
                                  : lowestBits(call, weight, serial.weightBits, serial.result);
  if (!serial.isUnipolar)
    return numbers;
  Scalar planes = isPacked ? weight.extent(packing.plane) : call.integer(serial.weightBits);
  return call.define(numbers.shape(), [&](const Position& at) {
    Scalar number = numbers(at), one = call.number(serial.result, 1);
    Scalar all = apply(ScalarFunction::LeftShift, {one, cast(planes, serial.result)}) - one;
    return number + number - all;
  });
}

/// The numbers of the data.
TensorHandle dataNumbers(ComputeCall& call, const BitSerial& serial) {
  return lowestBits(call, call.input(0), serial.dataBits, serial.result);
}

void computeDense(ComputeCall& call) {
  BitSerial serial = bitSerialOf(call, "data_bits");
  bool isPacked = call.input(1).rank() == 3;
  denseResult(call, dataNumbers(call, serial),
              weightNumbers(call, serial, densePacking(serial), isPacked));
}

/// Where the dimensions of data and weight of a convolution stand.
struct ConvAxes {
  size_t channels, height, width;
  size_t outputs, inputs, down, across;

  Packing packing(const BitSerial& serial) const {
    return {serial.weightBits, inputs, 4, serial.word};
  }
};

constexpr ConvAxes channelsFirst{1, 2, 3, 0, 1, 2, 3};
constexpr ConvAxes channelsLast{3, 1, 2, 3, 2, 0, 1};

Checked<ConvAxes> readAxes(const Attributes& attributes) {
  std::string_view layout = attributes.text("data_layout");
  if (layout == "NCHW")
    return channelsFirst;
  if (layout == "NHWC")
    return channelsLast;
  return Problem{fmt::format("`data_layout` must be NCHW or NHWC, but it is `{}`", layout)};
}

Checked<Window> readWindowOf(const Attributes& attributes) {
  Window window;
  auto strides = readNumbers(attributes, "strides", 2, 1);
  if (!strides)
    return strides.failure();
  window.strides = *strides;
  window.dilation = {1, 1};
  if (auto problem = readPadding(attributes, 2, window))
    return *problem;
  return window;
}

/// What the attributes of a convolution say beside the bits.
struct ConvShape {
  ConvAxes axes;
  Window window;
  std::vector<int64_t> kernel;
  int64_t channels;
};

Checked<ConvShape> readConvShape(const Attributes& attributes) {
  auto axes = readAxes(attributes);
  if (!axes)
    return axes.failure();
  auto window = readWindowOf(attributes);
  if (!window)
    return window.failure();
  auto kernel = readNumbers(attributes, "kernel_size", 2, 1);
  if (!kernel)
    return kernel.failure();
  if (attributes.isNull("channels") || attributes.integer("channels") < 1)
    return Problem{"`channels` must be given and positive"};
  return ConvShape{*axes, *window, *kernel, attributes.integer("channels")};
}

RelationResult relateConv(const RelationCall& call) {
  auto serial = readBitSerial(call, "activation_bits");
  if (!serial)
    return call.failed(serial.failure());
  auto conv = readConvShape(call.attributes);
  if (!conv)
    return call.failed(conv.failure());
  if (auto problem = requireWhole(call, 0, "data"))
    return *problem;
  if (call.rank(0) != 4)
    return call.failedAt(0, fmt::format("`data` must have 4 dimensions, but its shape is `{}`",
                                        shapeText(call.shape(0))));
  TypeContext& types = call.types;
  std::vector<const Dim*> shape(call.shape(0).begin(), call.shape(0).end()), weight(4), taps;
  for (int64_t extent : conv->kernel)
    taps.push_back(types.constant(extent));
  const Dim* inputs = shape[conv->axes.channels];
  for (size_t i = 0; i < 2; ++i) {
    size_t dim = i == 0 ? conv->axes.height : conv->axes.width;
    auto positions = windowExtent(call, shape[dim], taps[i], conv->window, i, false);
    if (!positions)
      return call.failedOn({{0, dim}}, positions.failure().text);
    shape[dim] = *positions;
  }
  shape[conv->axes.channels] = types.constant(conv->channels);
  weight[conv->axes.outputs] = shape[conv->axes.channels];
  weight[conv->axes.inputs] = inputs;
  weight[conv->axes.down] = taps[0];
  weight[conv->axes.across] = taps[1];
  RelationResult result = call.solved(shape, serial->result);
  requireMultiple(result, inputs, widthOf(serial->word));
  for (size_t i = 0; i < 2; ++i)
    requireWindow(result, call, call.shape(0)[i == 0 ? conv->axes.height : conv->axes.width],
                  taps[i], conv->window, i);
  demandWeight(call, result, *serial, conv->axes.packing(*serial), weight);
  return result;
}

void computeConv(ComputeCall& call) {
  BitSerial serial = bitSerialOf(call, "activation_bits");
  ConvShape shape = *readConvShape(call.attributes());
  ConvAttributes conv;
  conv.dims = 2;
  conv.window = shape.window;
  conv.canonicalData = *parseLayout("NCHW");
  conv.canonicalWeight = *parseLayout("OIHW");
  conv.data = conv.result = *parseLayout(call.attributes().text("data_layout"));
  conv.weight = *parseLayout(shape.axes.channels == 1 ? "OIHW" : "HWIO");
  bool isPacked = call.input(1).rank() == 5;
  convResult(call, conv, dataNumbers(call, serial),
             weightNumbers(call, serial, shape.axes.packing(serial), isPacked));
}

constexpr OperandRow packOperands[] = {{"data", "small whole numbers"}};
constexpr OperandRow denseOperands[] = {
    {"data", "rows of small whole numbers, with any leading dimensions"},
    {"weight", "`[units, features]`, or packed: `[units, bits, words]`"},
};
constexpr OperandRow convOperands[] = {
    {"data", "small whole numbers, the tensor that the window slides over"},
    {"weight", "`OIHW` for `NCHW` and `HWIO` for `NHWC`, or packed along `I` with the bits last"},
};

constexpr AttributeRow unipolarRow{
    "unipolar", AttributeKind::Bool, "True",
    "whether a bit of the weight that is 0 stands for -1, and not for nothing"};
constexpr AttributeRow wordRow{"pack_dtype", AttributeKind::DType, "\"\"",
                               "type of the words that bits are packed into, an unsigned integer"};
constexpr AttributeRow weightBitsRow{"weight_bits", AttributeKind::Int, "1",
                                     "bits of the weight; a packed one has as many as it has"};
constexpr AttributeRow outDTypeRow{"out_dtype", AttributeKind::DType, "\"\"",
                                   "element type of the result; that of the data if empty"};

constexpr AttributeRow packAttributes[] = {
    {"bits", AttributeKind::Int, "1", "how many bits of each number are taken"},
    {"pack_axis", AttributeKind::Int, "1", "the dimension along which numbers share a word"},
    {"bit_axis", AttributeKind::Int, "-1", "the dimension of the result that counts bits"},
    {"pack_type", AttributeKind::DType, "\"\"", "type of the words, an unsigned integer"},
    {"name", AttributeKind::String, "\"BitPack\"", "a name for the stage; it has no effect"},
};
constexpr AttributeRow denseAttributes[] = {
    {"units", AttributeKind::Int, "", "columns of the result"},
    {"data_bits", AttributeKind::Int, "1", "bits of the data"},
    weightBitsRow,
    wordRow,
    outDTypeRow,
    unipolarRow,
};
constexpr AttributeRow convAttributes[] = {
    {"strides", AttributeKind::IntList, "[1, 1]", "steps of the window"},
    {"padding", AttributeKind::IntList, "[0, 0]",
     "zeros around the data: one number for all sides, one per dimension, or all before, then all "
     "after"},
    AttributeRow{"kernel_size", AttributeKind::IntList, "[3, 3]", "spatial extents of the weight"}
        .ofLength(2),
    {"channels", AttributeKind::Int, "None", "channels of the result; they must be given"},
    {"activation_bits", AttributeKind::Int, "1", "bits of the data"},
    weightBitsRow,
    {"data_layout", AttributeKind::String, "\"NCHW\"", "layout of data and result"},
    {"kernel_layout", AttributeKind::String, "\"OIHW\"",
     "has no effect: the layout of the weight follows from that of the data"},
    wordRow,
    outDTypeRow,
    unipolarRow,
};

constexpr std::string_view packDetails =
    "Along `pack_axis` as many neighbours share a word as it has bits, the first one its highest "
    "bit; their number must be a multiple of that. Words of bit 0 of the numbers come first along "
    "`bit_axis`, then those of bit 1, and so on.";
constexpr std::string_view sumDetails =
    "A bit i of the data and a bit j of the weight add 2^(i + j); in the unipolar form a bit of "
    "the data where the weight has none takes as much away. So without it this is the product of "
    "the numbers. The features, or channels, must be a multiple of the bits of a word. Sums wrap "
    "in `out_dtype`.";

constexpr Example packExamples[] = {
    {"nn.bitpack([[1, 0, 0, 0, 0, 0, 2, 3]], bits=2, pack_axis=1, bit_axis=0, "
     "pack_type=\"uint8\")",
     "cast([[[129]], [[3]]], dtype=\"uint8\")"},
};
constexpr Example denseExamples[] = {
    {"nn.bitserial_dense([[3, 1, 0, 0, 0, 0, 0, 2]], [[1, 0, 0, 0, 0, 0, 0, 1]], units=1, "
     "data_bits=2, pack_dtype=\"uint8\", unipolar=False)",
     "[[5]]"},
    {"nn.bitserial_dense([[3, 1, 0, 0, 0, 0, 0, 2]], [[1, 0, 0, 0, 0, 0, 0, 1]], units=1, "
     "data_bits=2, pack_dtype=\"uint8\", unipolar=True)",
     "[[4]]"},
};
constexpr Example convExamples[] = {
    {"nn.bitserial_conv2d([[[[3, 1, 0, 0, 0, 0, 0, 2]]]], [[[[1], [0], [0], [0], [0], [0], [0], "
     "[1]]]], kernel_size=[1, 1], channels=1, activation_bits=2, data_layout=\"NHWC\", "
     "kernel_layout=\"HWIO\", pack_dtype=\"uint8\", out_dtype=\"int16\")",
     "cast([[[[4]]]], dtype=\"int16\")"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "nn.bitpack",
        .doc = "Packs the bits of small numbers into words.",
        .details = packDetails,
        .operands = packOperands,
        .attributes = packAttributes,
        .attributesKey = "relay.attrs.BitPackAttrs",
        .relation = relatePack,
        .compute = computePack,
        .gradient = integerValued,
        .examples = packExamples,
    },
    {
        .name = "nn.bitserial_dense",
        .doc = "Multiplies rows of features with a matrix of weights, bit by bit.",
        .details = sumDetails,
        .operands = denseOperands,
        .attributes = denseAttributes,
        .attributesKey = "relay.attrs.BinaryDenseAttrs",
        .relation = relateDense,
        .compute = computeDense,
        .gradient = integerValued,
        .examples = denseExamples,
    },
    {
        .name = "nn.bitserial_conv2d",
        .doc = "Cross-correlates pictures with weights, bit by bit.",
        .details = sumDetails,
        .operands = convOperands,
        .attributes = convAttributes,
        .attributesKey = "relay.attrs.BinaryConv2DAttrs",
        .relation = relateConv,
        .compute = computeConv,
        .gradient = integerValued,
        .examples = convExamples,
    },
};

} // namespace

OperatorFamily bitserialFamily() {
  return rows;
}

} // namespace stdlib
