// Discrete Fourier transforms: dft, and stft over windowed frames.
//
// Angles are reduced modulo one turn as integers before anything is rounded. Frames of stft begin
// at multiples of the hop, are not centred, and turn once per `win_length` samples, as in Relay.
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shape_rules.h"

#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace stdlib {

namespace {

using namespace lang;
using runtime::DType;

std::optional<RelationResult> requireFloat(const RelationCall& call, size_t i) {
  if (call.dtype(i).isFloat())
    return std::nullopt;
  return call.failedAt(i,
                       words("the operands must hold floats, but one is `{}`", call.operands[i]));
}

RelationResult dftRelation(const RelationCall& call) {
  if (auto problem = requireFloat(call, 0))
    return *problem;
  if (auto problem = requireSameDType(call, 0, 1))
    return *problem;
  bool good = call.rank(0) > 0 && call.rank(0) == call.rank(1);
  for (size_t i = 0; good && i < call.rank(0); ++i)
    good = call.meetDims(call.shape(0)[i], call.shape(1)[i]) != nullptr;
  if (!good)
    return call.failedAt(1, fmt::format("the real and the imaginary part must have one shape of "
                                        "rank 1 at least, but they have `{}` and `{}`",
                                        shapeText(call.shape(0)), shapeText(call.shape(1))));
  std::vector<const Type*> parts(call.operands.begin(), call.operands.end());
  return call.solved(call.types.tuple(parts));
}

/// The lengths that the attributes of stft give.
struct Frames {
  int64_t length, hop, window, rows;

  explicit Frames(const Attributes& attributes)
      : length(attributes.integer("n_fft")), hop(attributes.integer("hop_length")),
        window(attributes.integer("win_length")),
        rows(attributes.boolean("onesided") ? length / 2 + 1 : length) {}

  bool isGood() const {
    return length > 0 && length <= INT32_MAX && hop > 0 && hop <= INT32_MAX && window > 0 &&
           window <= length;
  }
};

RelationResult stftRelation(const RelationCall& call) {
  if (auto problem = requireFloat(call, 0))
    return *problem;
  if (!call.dtype(1).isInteger())
    if (auto problem = requireSameDType(call, 0, 1))
      return *problem;
  if (call.rank(0) != 1 && call.rank(0) != 2)
    return call.failedAt(0, fmt::format("the data must have rank 1 or 2, but its shape is `{}`",
                                        shapeText(call.shape(0))));
  Frames frames(call.attributes);
  if (!frames.isGood())
    return call.failed(fmt::format("`n_fft` is {}, `hop_length` {} and `win_length` {}, but they "
                                   "must be positive, and a window fit into a frame",
                                   frames.length, frames.hop, frames.window));
  if (call.rank(1) != 1 || !call.meetDims(call.shape(1)[0], call.types.constant(frames.window)))
    return call.failedAt(1, fmt::format("the window must have the shape `({})` as `win_length` "
                                        "says, but it has `{}`",
                                        frames.window, shapeText(call.shape(1))));
  const Dim* samples = call.shape(0).back();
  if (samples->isConstant() && samples->value < frames.length)
    return call.failedAt(0, fmt::format("a frame of {} samples does not fit into {}", frames.length,
                                        samples->value));
  std::vector<const Dim*> shape(call.shape(0).begin(), call.shape(0).end() - 1);
  shape.push_back(call.types.constant(frames.rows));
  const Dim* room = call.types.add(samples, call.types.constant(frames.hop - frames.length));
  shape.push_back(call.types.floorDivide(room, frames.hop));
  shape.push_back(call.types.constant(2));
  RelationResult result = call.solved(shape, call.dtype(0));
  requireAtLeast(result, samples, frames.length);
  return result;
}

/// The cosines or sines of `period` equal parts of a turn.
TensorHandle circle(ComputeCall& call, ScalarFunction function, Scalar period, DType dtype) {
  Scalar halfTurn = apply(ScalarFunction::Acos, {call.number(runtime::Float64, -1)});
  return call.define({period}, [&](const Position& at) {
    Scalar part = cast(at[0], runtime::Float64) / cast(period, runtime::Float64);
    return cast(apply(function, {part * halfTurn * 2.0}), dtype);
  });
}

void computeDft(ComputeCall& call) {
  TensorHandle re = call.input(0), im = call.input(1);
  bool inverse = call.attributes().boolean("inverse");
  size_t last = re.rank() - 1;
  Scalar period = re.extent(last);
  TensorHandle cosines = circle(call, ScalarFunction::Cos, period, re.dtype());
  TensorHandle sines = circle(call, ScalarFunction::Sin, period, re.dtype());
  auto turned = [&](const TensorHandle& x, const TensorHandle& factors) {
    return call.define(x.shape(), [&](const Position& at) {
      return call.sumOver({period}, [&](const Position& k) {
        return x(replaceAt(at, last, k[0])) * factors({floorMod(at[last] * k[0], period)});
      });
    });
  };
  TensorHandle reCos = turned(re, cosines), reSin = turned(re, sines);
  TensorHandle imCos = turned(im, cosines), imSin = turned(im, sines);
  auto scaled = [&](Scalar sum) { return inverse ? sum / cast(period, sum.dtype()) : sum; };
  call.result([&](const Position& at) {
    return scaled(inverse ? reCos(at) - imSin(at) : reCos(at) + imSin(at));
  });
  call.result([&](const Position& at) {
    return scaled(inverse ? imCos(at) + reSin(at) : imCos(at) - reSin(at));
  });
}

void computeStft(ComputeCall& call) {
  TensorHandle x = call.input(0), window = call.input(1);
  Frames frames(call.attributes());
  Scalar period = call.integer(frames.window);
  Extents shape = call.outputShape();
  shape.pop_back();
  auto turned = [&](ScalarFunction function) {
    TensorHandle factors = circle(call, function, period, x.dtype());
    return call.define(shape, [&](const Position& at) {
      Scalar row = at[at.size() - 2], start = at[at.size() - 1] * call.integer(frames.hop);
      return call.sumOver({period}, [&](const Position& k) {
        Position from(at.begin(), at.end() - 2);
        from.push_back(start + k[0]);
        return cast(window(k), x.dtype()) * x(from) * factors({floorMod(row * k[0], period)});
      });
    });
  };
  TensorHandle re = turned(ScalarFunction::Cos), im = turned(ScalarFunction::Sin);
  double scale = call.attributes().boolean("normalized") ? std::sqrt(double(frames.length)) : 1;
  call.result([&](const Position& at) {
    Position place = eraseAt(at, at.size() - 1);
    return select(at.back() == 0.0, re(place), -im(place)) / scale;
  });
}

constexpr OperandRow dftOperands[] = {{"re_data", "the real part"},
                                      {"im_data", "the imaginary part, of the same type"}};
constexpr OperandRow stftOperands[] = {
    {"data", "a signal, or a batch of signals"},
    {"window", "the factors of a frame's samples, of the type of the data or integers"}};

constexpr AttributeRow dftAttributes[] = {
    {"inverse", AttributeKind::Bool, "False", "whether to transform back", true}};
constexpr AttributeRow stftAttributes[] = {
    {"n_fft", AttributeKind::Int, "-1", "the length of a frame; must be given"},
    {"hop_length", AttributeKind::Int, "-1", "the distance of frames; must be given"},
    {"win_length", AttributeKind::Int, "-1",
     "the length of the window, which begins with the frame; must be given"},
    {"normalized", AttributeKind::Bool, "False", "whether to divide by the root of `n_fft`"},
    {"onesided", AttributeKind::Bool, "True", "whether to leave out the mirrored frequencies"}};

constexpr Example dftExamples[] = {
    {"dft([1f, 2f, 3f, 4f], [0f, 0f, 0f, 0f], inverse=False, "
     "attrs_type_key=\"relay.attrs.DFTAttrs\")",
     "([10f, -2f, -2f, -2f], [0f, 2f, 0f, -2f])"},
    {"dft([4f, 0f], [0f, 0f], inverse=True, attrs_type_key=\"relay.attrs.DFTAttrs\")",
     "([2f, 2f], [0f, 0f])"}};
constexpr Example stftExamples[] = {
    {"stft([1f, 2f, 3f, 5f], [1f, 1f], n_fft=2, hop_length=1, win_length=2, "
     "attrs_type_key=\"relay.attrs.StftAttrs\")",
     "[[[3f, 0f], [5f, 0f], [8f, 0f]], [[-1f, 0f], [-1f, 0f], [-2f, 0f]]]"},
    {"stft([1f, 2f, 3f], [3, 1], n_fft=2, hop_length=1, win_length=2, "
     "attrs_type_key=\"relay.attrs.StftAttrs\")",
     "[[[5f, 0f], [9f, 0f]], [[1f, 0f], [3f, 0f]]]"}};

/// The transpose of a transform is the other one, but for the factor.
void dftGradient(GradientCall& d) {
  bool inverse = d.attributes().boolean("inverse");
  Term turned = d.call("dft", {incoming(d, 0), incoming(d, 1)}, {{"inverse", !inverse}});
  Term count = countOf(d.operand(0), {d.operand(0).rank() - 1});
  for (size_t i = 0; i < 2; ++i) {
    Term part = d.project(turned, i);
    give(d, i, inverse ? part / count : part * count);
  }
}

/// Turns the cotangent back into one of the windowed frames, which go to their places in the data.
void stftGradient(GradientCall& d) {
  Frames frames(d.attributes());
  Term data = d.operand(0), window = d.operand(1), g = d.cotangent();
  size_t axis = data.rank() - 1;
  auto numbers = [&](int64_t count) {
    std::vector<int64_t> values(static_cast<size_t>(count));
    std::iota(values.begin(), values.end(), 0);
    return integers(d, values);
  };
  Term turns = expandDims(numbers(frames.rows), 1, 2) * numbers(frames.window);
  Term turn = d.call("floor_mod", {turns, number(turns, double(frames.window))});
  Term pi = map("acos", number(data, -1));
  Term angle = castTo(turn, data.dtype()) * (2 * pi / number(data, double(frames.window)));
  auto part = [&](double i) {
    return expandDims(take(g, d.number(runtime::Int32, i), g.rank() - 1), g.rank() - 1);
  };
  Term turned = part(0) * map("cos", angle) - part(1) * map("sin", angle);
  double scale = d.attributes().boolean("normalized") ? double(frames.length) : 1;
  Term framed = sum(turned, {axis}) / sqrt(number(data, scale));
  auto windows = [&](const Term& of) {
    Term all = d.call("sliding_window", {of},
                      {{"axis", axis},
                       {"window_shape", std::vector{frames.window}},
                       {"strides", std::vector{frames.hop}}});
    return slicedLike(all, framed, allAxes(all.rank()));
  };
  give(d, 0, addedAtPlaces(framed * castTo(window, data.dtype()), windows(placesLike(data)), data));
  if (window.dtype().isFloat())
    give(d, 1, summedExcept(framed * windows(data), data.rank()));
}

constexpr OperatorRow rows[] = {
    {.name = "dft",
     .synonyms = "fft",
     .doc = "The discrete Fourier transform along the last dimension, in two parts.",
     .details = "result[k] = sum over n of data[n] * e^(-2 pi i k n / N). The inverse has the "
                "other sign and divides by N.",
     .operands = dftOperands,
     .attributes = dftAttributes,
     .attributesKey = "relay.attrs.DFTAttrs",
     .relation = dftRelation,
     .compute = computeDft,
     .gradient = GradientRule{dftGradient},
     .examples = dftExamples,
     .unregisteredAttributes = true},
    {.name = "stft",
     .doc = "The short-time Fourier transform: the frequencies in every windowed frame.",
     .details = "result[row, frame] = sum over n of window[n] * data[frame * hop_length + n] * "
                "e^(-2 pi i row n / win_length); the last dimension holds the real and the "
                "imaginary part.",
     .operands = stftOperands,
     .attributes = stftAttributes,
     .attributesKey = "relay.attrs.StftAttrs",
     .relation = stftRelation,
     .compute = computeStft,
     .gradient = GradientRule{stftGradient},
     .examples = stftExamples,
     .unregisteredAttributes = true},
};

} // namespace

OperatorFamily fourierFamily() {
  return rows;
}

} // namespace stdlib
