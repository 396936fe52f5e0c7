// The correlation of two pictures, and its derivatives as operators of their own.
//
// Padding is zeros. The correlation is linear in each of the pictures, or a sum of distances: the
// slope is how it changes when both pictures do, and the gradient is the adjoint of that, so that
// the derivatives of all three are these three again.
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/conv_call.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/window.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::Checked;
using runtime::DType;
using runtime::Problem;

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

/// The relation of a correlation of operands `first` and `first + 1`.
RelationResult relateCorrelation(const RelationCall& call, size_t first) {
  auto correlation = readCorrelation(call.attributes);
  if (!correlation)
    return call.failed(correlation.failure());
  if (call.rank(first) != 4)
    return call.failedAt(first, fmt::format("the data must have 4 dimensions, but its shape is {}",
                                            shapeText(call.shape(first))));
  bool agrees = call.rank(first + 1) == 4 && call.dtype(first) == call.dtype(first + 1);
  for (size_t i = 0; agrees && i < 4; ++i)
    agrees = !call.differ(call.shape(first)[i], call.shape(first + 1)[i]);
  if (!agrees)
    return call.failedAt(first + 1, words("both pictures must have one type, but they are `{}` and "
                                          "`{}`",
                                          call.operands[first], call.operands[first + 1]));
  TypeContext& types = call.types;
  std::vector<const Dim*> shape{call.shape(first)[0],
                                types.constant(correlation->ways * correlation->ways)};
  for (size_t i = 0; i < 2; ++i) {
    int64_t added = correlation->window.before[i] + correlation->window.after[i];
    const Dim* extent = call.shape(first)[2 + i];
    const Dim* room = types.add(extent, types.constant(added - 2 * correlation->reach));
    if (room->isConstant() && room->value < 1)
      return call.failed(fmt::format("an extent of {}, which with padding is {}, has no place "
                                     "at least {} away from both borders",
                                     dimText(extent), room->value + 2 * correlation->reach,
                                     correlation->reach));
    const Dim* last = types.add(room, types.constant(correlation->stride - 1));
    shape.push_back(types.floorDivide(last, correlation->stride));
  }
  RelationResult result = call.solved(shape, call.dtype(first));
  for (size_t i = 2; i < 4; ++i)
    requireAtLeast(result, shape[i], 1);
  return result;
}

RelationResult correlationRelation(const RelationCall& call) {
  return relateCorrelation(call, 0);
}

/// The problem when operand `i` has not the shape and the element type of the data, which are those
/// of operand `like`, else nothing.
std::optional<RelationResult> requireLike(const RelationCall& call, size_t i, Dims shape,
                                          size_t like) {
  bool agrees = call.rank(i) == shape.size() && call.dtype(i) == call.dtype(like);
  for (size_t k = 0; agrees && k < shape.size(); ++k)
    agrees = !call.differ(call.shape(i)[k], shape[k]);
  if (agrees)
    return std::nullopt;
  return call.failedAt(i, words("it must be `{}`, but it is `{}`",
                                call.types.tensor(shape, call.dtype(like)), call.operands[i]));
}

std::optional<RelationResult> requireFloat(const RelationCall& call, size_t i) {
  if (call.dtype(i).isFloat())
    return std::nullopt;
  return call.failedAt(
      i, words("the pictures must be floating point, but they are `{}`", call.operands[i]));
}

RelationResult gradientRelation(const RelationCall& call) {
  RelationResult result = relateCorrelation(call, 1);
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  if (auto other = requireFloat(call, 1))
    return *other;
  Dims correlated = result.output->shape;
  if (auto other = requireLike(call, 0, correlated, 1))
    return *other;
  for (size_t i = 0; i < 4; ++i)
    requireSame(result, call.types, correlated[i], call.shape(0)[i]);
  result.output = call.types.tuple(std::vector{call.operands[1], call.operands[2]});
  return result;
}

RelationResult slopeRelation(const RelationCall& call) {
  RelationResult result = relateCorrelation(call, 0);
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  if (auto other = requireFloat(call, 0))
    return *other;
  for (size_t i = 2; i < 4; ++i)
    if (auto other = requireLike(call, i, call.shape(0), 0))
      return *other;
  return result;
}

/// The elements of both pictures that a tap of a window and its displacement meet.
struct Meeting {
  Position first, second;
};

/// What the computations share. A displacement has a number along each of both dimensions.
struct Correlated {
  Correlation correlation;
  bool multiplies;

  explicit Correlated(const Attributes& attributes)
      : correlation(*readCorrelation(attributes)), multiplies(attributes.boolean("is_multiply")) {}

  /// By how much a way along a dimension displaces.
  Scalar displacement(Scalar way) const {
    int64_t furthest = correlation.displacement / correlation.step;
    return (way - double(furthest)) * double(correlation.step);
  }

  /// For the element of the result at `at`, and a channel and a tap.
  Meeting meeting(const Position& at, const Position& tap) const {
    Scalar ways[] = {floorDivide(at[1], correlation.ways), floorMod(at[1], correlation.ways)};
    Meeting meeting{{at[0], tap[0]}, {at[0], tap[0]}};
    for (size_t i = 0; i < 2; ++i) {
      Scalar place = at[2 + i] * double(correlation.stride) + tap[1 + i] +
                     double(correlation.displacement - correlation.window.before[i]);
      meeting.first.push_back(place);
      meeting.second.push_back(place + displacement(ways[i]));
    }
    return meeting;
  }

  /// Over channels and taps.
  Extents taps(ComputeCall& call, const TensorHandle& data) const {
    Scalar kernel = call.integer(correlation.kernel);
    return {data.extent(1), kernel, kernel};
  }
  /// How many products or distances an element of the result is the mean of.
  Scalar count(ComputeCall& call, const TensorHandle& data) const {
    Scalar kernel = call.integer(correlation.kernel);
    return kernel * kernel * data.extent(1);
  }
};

void computeCorrelation(ComputeCall& call) {
  Correlated correlated(call.attributes());
  TensorHandle left = call.input(0), right = call.input(1);
  DType dtype = left.dtype();
  Scalar zero = call.number(dtype, 0), count = correlated.count(call, left);
  call.result([&](const Position& at) {
    Scalar sum = call.sumOver(correlated.taps(call, left), [&](const Position& tap) {
      Meeting from = correlated.meeting(at, tap);
      Scalar a = left.orElse(from.first, zero), b = right.orElse(from.second, zero);
      return correlated.multiplies ? a * b : apply(ScalarFunction::Abs, {a - b});
    });
    if (dtype.isFloat())
      return sum / cast(count, dtype);
    return cast(cast(sum, runtime::Int64) / count, dtype);
  });
}

void computeSlope(ComputeCall& call) {
  Correlated correlated(call.attributes());
  TensorHandle left = call.input(0), right = call.input(1);
  TensorHandle leftWay = call.input(2), rightWay = call.input(3);
  // Without channels there is nothing that changes.
  Scalar zero = call.number(left.dtype(), 0);
  Scalar count = maximum(correlated.count(call, left), call.integer(1));
  call.result([&](const Position& at) {
    Scalar sum = call.sumOver(correlated.taps(call, left), [&](const Position& tap) {
      Meeting from = correlated.meeting(at, tap);
      Scalar a = left.orElse(from.first, zero), b = right.orElse(from.second, zero);
      Scalar da = leftWay.orElse(from.first, zero), db = rightWay.orElse(from.second, zero);
      return correlated.multiplies ? da * b + a * db
                                   : apply(ScalarFunction::Sign, {a - b}) * (da - db);
    });
    return sum / cast(count, left.dtype());
  });
}

/// For each displacement and each element of the padded pictures, which windows stand on, the sum
/// of the gradients of the windows that have a tap there.
TensorHandle spreadGradient(ComputeCall& call, const Correlated& correlated) {
  const Correlation& correlation = correlated.correlation;
  TensorHandle gradient = call.input(0), data = call.input(1);
  Scalar kernel = call.integer(correlation.kernel), zero = call.number(gradient.dtype(), 0);
  Extents shape{gradient.extent(0), gradient.extent(1)};
  for (size_t i = 0; i < 2; ++i)
    shape.push_back(data.extent(2 + i) +
                    double(correlation.window.before[i] + correlation.window.after[i]));
  return call.define(shape, [&](const Position& at) {
    return call.sumOver({kernel, kernel}, [&](const Position& tap) {
      Position window{at[0], at[1]};
      Scalar isWindow = call.number(runtime::Bool, 1);
      for (size_t i = 0; i < 2; ++i) {
        Scalar offset = at[2 + i] - tap[i] - double(correlation.displacement);
        window.push_back(floorDivide(offset, correlation.stride));
        isWindow = isWindow && floorMod(offset, correlation.stride) == 0.0;
      }
      return select(isWindow, gradient.orElse(window, zero), zero);
    });
  });
}

void computeGradient(ComputeCall& call) {
  Correlated correlated(call.attributes());
  const Correlation& correlation = correlated.correlation;
  TensorHandle left = call.input(1), right = call.input(2);
  TensorHandle spread = spreadGradient(call, correlated);
  Scalar zero = call.number(left.dtype(), 0), ways = call.integer(correlation.ways);
  Scalar count = cast(correlated.count(call, left), left.dtype());
  // An element of one picture meets those of the other at all displacements, there or back.
  auto define = [&](bool isLeft) {
    call.result([&, isLeft](const Position& at) {
      Scalar sum = call.sumOver({ways, ways}, [&](const Position& way) {
        Position other{at[0], at[1]}, window{at[0], way[0] * ways + way[1]};
        for (size_t i = 0; i < 2; ++i) {
          Scalar by = correlated.displacement(way[i]);
          other.push_back(isLeft ? at[2 + i] + by : at[2 + i] - by);
          window.push_back((isLeft ? at[2 + i] : other[2 + i]) +
                           double(correlation.window.before[i]));
        }
        Scalar own = (isLeft ? left : right)(at), met = (isLeft ? right : left).orElse(other, zero);
        Scalar slope = correlated.multiplies ? met : apply(ScalarFunction::Sign, {own - met});
        return spread.orElse(window, zero) * slope;
      });
      return sum / count;
    });
  };
  define(true);
  define(false);
}

Term gradientCall(GradientCall& d, const Term& cotangent, const Term& left, const Term& right) {
  return d.call("nn.correlation_grad", {cotangent, left, right}, sameAttributes(d));
}

void gradient(GradientCall& d) {
  Term both = gradientCall(d, d.cotangent(), d.operand(0), d.operand(1));
  give(d, 0, d.project(both, 0));
  give(d, 1, d.project(both, 1));
}

/// Distances are linear almost everywhere, so that their slopes do not change with the pictures.
void giveToPictures(GradientCall& d, size_t first, const Term& cotangent, const Term& left,
                    const Term& right) {
  if (!d.attributes().boolean("is_multiply")) {
    give(d, first, zerosLike(d.operand(first)));
    return give(d, first + 1, zerosLike(d.operand(first + 1)));
  }
  Term both = gradientCall(d, cotangent, left, right);
  give(d, first, d.project(both, 0));
  give(d, first + 1, d.project(both, 1));
}

void slopeGradient(GradientCall& d) {
  Term ways = gradientCall(d, d.cotangent(), d.operand(0), d.operand(1));
  give(d, 2, d.project(ways, 0));
  give(d, 3, d.project(ways, 1));
  giveToPictures(d, 0, d.cotangent(), d.operand(2), d.operand(3));
}

void gradientOfGradient(GradientCall& d) {
  Term left = incoming(d, 0), right = incoming(d, 1);
  give(
      d, 0,
      d.call("nn.correlation_slope", {d.operand(1), d.operand(2), left, right}, sameAttributes(d)));
  giveToPictures(d, 1, d.operand(0), left, right);
}

constexpr OperandRow correlationOperands[] = {
    {"data1", "the pictures whose windows stand still"},
    {"data2", "the pictures whose windows are displaced"},
};
constexpr OperandRow gradientOperands[] = {
    {"out_grad", "the gradient by the result of the correlation"},
    {"data1", "the pictures whose windows stand still"},
    {"data2", "the pictures whose windows are displaced"},
};
constexpr OperandRow slopeOperands[] = {
    {"data1", "the pictures whose windows stand still"},
    {"data2", "the pictures whose windows are displaced"},
    {"way1", "how the first pictures change"},
    {"way2", "how the second pictures change"},
};
constexpr auto convRows = convAttributes(2);
constexpr AttributeRow correlationAttributes[] = {
    {"kernel_size", AttributeKind::Int, "1", "the height and width of the windows, odd"},
    {"max_displacement", AttributeKind::Int, "1", "how far windows are displaced at the utmost"},
    {"stride1", AttributeKind::Int, "1", "steps of the windows"},
    {"stride2", AttributeKind::Int, "1", "steps of the displacements"},
    convRows[1],
    {"is_multiply", AttributeKind::Bool, "True",
     "whether elements are multiplied, or the distances of their values taken"},
    {"layout", AttributeKind::String, "\"NCHW\"", "the layout of all pictures, `NCHW`"},
};
constexpr Example correlationExamples[] = {
    {"nn.correlation([[[[2f]]]], [[[[5f]]]], max_displacement=0)", "[[[[10f]]]]"},
    {"nn.correlation([[[[2f]], [[1f]]]], [[[[5f]], [[3f]]]], max_displacement=0, "
     "is_multiply=False)",
     "[[[[2.5f]]]]"},
};
constexpr Example gradientExamples[] = {
    {"nn.correlation_grad([[[[10f]]]], [[[[2f]]]], [[[[5f]]]], max_displacement=0)",
     "([[[[50f]]]], [[[[20f]]]])"},
    {"nn.correlation_grad([[[[8f]]]], [[[[2f]], [[1f]]]], [[[[5f]], [[1f]]]], "
     "max_displacement=0, is_multiply=False)",
     "([[[[-4f]], [[0f]]]], [[[[4f]], [[0f]]]])"},
};
constexpr Example slopeExamples[] = {
    {"nn.correlation_slope([[[[2f]]]], [[[[5f]]]], [[[[1f]]]], [[[[10f]]]], max_displacement=0)",
     "[[[[25f]]]]"},
    {"nn.correlation_slope([[[[2f]]]], [[[[5f]]]], [[[[1f]]]], [[[[10f]]]], max_displacement=0, "
     "is_multiply=False)",
     "[[[[9f]]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "nn.correlation",
        .doc = "How alike the windows of one picture and displaced windows of another are.",
        .details =
            "A channel of the result is one displacement, those down counting slower; an "
            "element is the mean over channels and taps. The distance of equal elements has the "
            "gradient 0.",
        .operands = correlationOperands,
        .attributes = correlationAttributes,
        .attributesKey = "relay.attrs.CorrelationAttrs",
        .relation = correlationRelation,
        .compute = computeCorrelation,
        .gradient = GradientRule{gradient},
        .examples = correlationExamples,
    },
    {
        .name = "nn.correlation_grad",
        .doc = "The gradients of nn.correlation by both pictures.",
        .details = "The distance of equal elements has the gradient 0.",
        .operands = gradientOperands,
        .attributes = correlationAttributes,
        .attributesKey = "relay.attrs.CorrelationAttrs",
        .relation = gradientRelation,
        .compute = computeGradient,
        .gradient = GradientRule{gradientOfGradient},
        .examples = gradientExamples,
    },
    {
        .name = "nn.correlation_slope",
        .doc = "How nn.correlation changes when both pictures do.",
        .details = "The derivative along the given ways, to which the gradient is adjoint.",
        .operands = slopeOperands,
        .attributes = correlationAttributes,
        .attributesKey = "relay.attrs.CorrelationAttrs",
        .relation = slopeRelation,
        .compute = computeSlope,
        .gradient = GradientRule{slopeGradient},
        .examples = slopeExamples,
    },
};

} // namespace

OperatorFamily correlationFamily() {
  return rows;
}

} // namespace stdlib
