// Scales, zero points and requantisation.
#include "stdlib/ops/qnn/quantized.h"

#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/gradient.h"

#include <cmath>
#include <fmt/format.h>

namespace stdlib {

using namespace lang;
using runtime::DType;
using runtime::Float32;
using runtime::Float64;
using runtime::Int32;
using runtime::Int64;

namespace {

/// `int8, uint8 or int32`, quoted.
Words choicesText(std::initializer_list<DType> choices) {
  std::vector<Words> parts;
  size_t left = choices.size();
  for (DType choice : choices) {
    --left;
    parts.push_back(words("`{}`{}", choice, left > 1 ? ", " : left == 1 ? " or " : ""));
  }
  return runtime::joined(std::move(parts), "");
}

bool isAmong(DType dtype, std::initializer_list<DType> choices) {
  return std::find(choices.begin(), choices.end(), dtype) != choices.end();
}

} // namespace

std::optional<RelationResult> requireElements(const RelationCall& call, size_t i,
                                              std::string_view name,
                                              std::initializer_list<DType> choices) {
  if (isAmong(call.dtype(i), choices))
    return std::nullopt;
  return call.failedAt(i, words("`{}` must have elements of {}, but it is `{}`", name,
                                choicesText(choices), call.operands[i]));
}

std::optional<RelationResult> requireOutDType(const RelationCall& call,
                                              std::initializer_list<DType> choices) {
  auto dtype = call.attributes.dtype("out_dtype");
  if (dtype && isAmong(*dtype, choices))
    return std::nullopt;
  return call.failed(words("`out_dtype` must be {}, but it is {}", choicesText(choices),
                           dtype ? words("`{}`", *dtype) : "not given"));
}

const Dim* oneOrAll(const RelationCall& call, const Dim* given, const Dim* channels) {
  bool isGood =
      given->isConstant(1) || (call.steps && broadcastsTo(call, {&given, 1}, {&channels, 1}));
  return isGood ? given : channels;
}

bool demandParameter(const RelationCall& call, RelationResult& result, size_t i,
                     std::string_view name, DType dtype, const Dim* channels) {
  const Type* type = call.operands[i];
  if (type->isTensor() && type->dtype == dtype && call.rank(i) == 0)
    return true;
  if (channels && type->isTensor() && type->dtype == dtype && call.rank(i) == 1)
    return demandOperand(call, result, i, name, call.types.tensor({channels}, dtype));
  Words wanted = channels ? words("a scalar of `{}`, or a vector of {}", dtype, channels)
                          : words("a scalar of `{}`", dtype);
  result = call.failedAt(i, words("`{}` must be {}, but it is `{}`", name, wanted, type));
  return false;
}

bool demandScaleAndZeroPoint(const RelationCall& call, RelationResult& result, size_t i,
                             std::string_view scale, std::string_view zeroPoint,
                             const Dim* channels) {
  return demandParameter(call, result, i, scale, Float32, channels) &&
         demandParameter(call, result, i + 1, zeroPoint, Int32, channels);
}

Position channelAt(const TensorHandle& parameter, const Position& at, size_t axis) {
  if (parameter.rank() == 0)
    return {};
  return {axis < at.size() ? at[axis] : number(parameter.extent(0), 0)};
}

Requantization requantizationOf(const Attributes& attributes) {
  std::string_view type = attributes.text("compute_dtype");
  return {type == "float32"   ? RequantizeType::Float32
          : type == "float64" ? RequantizeType::Float64
                              : RequantizeType::Int64,
          attributes.text("rounding") != "TONEAREST"};
}

std::optional<RelationResult> requantizationProblem(const RelationCall& call) {
  if (!isOneOf(call.attributes.text("rounding"), {"None", "UPWARD", "TONEAREST"}))
    return choiceFailure(call, "rounding", "`UPWARD`, `TONEAREST` or `None`");
  if (!isOneOf(call.attributes.text("compute_dtype"), {"None", "int64", "float32", "float64"}))
    return choiceFailure(call, "compute_dtype", "`int64`, `float32`, `float64` or `None`");
  return std::nullopt;
}

TensorHandle scaleRatio(ComputeCall& call, const TensorHandle& from, const TensorHandle& to) {
  return call.define(from.shape(), [&](const Position& at) {
    return cast(from(at), Float64) / cast(to({}), Float64);
  });
}

namespace {

Scalar shiftedLeft(Scalar value, Scalar count) {
  return apply(ScalarFunction::LeftShift, {value, count});
}

Scalar shiftedRight(Scalar value, Scalar count) {
  return apply(ScalarFunction::RightShift, {value, count});
}

/// The parts of a float64 that is normal or zero, as a number in 0.5 .. 1 times a power of two.
struct Parts {
  /// The number, rounded to 31 bits behind the point, halves away from zero; it may reach 2^31.
  Scalar significand;
  Scalar exponent;

  explicit Parts(Scalar value) {
    Scalar bits = reinterpret(value, Int64), hidden = number(bits, 0x1p52);
    Scalar fraction = apply(ScalarFunction::BitAnd, {bits, hidden - 1.0}) + hidden;
    significand = shiftedRight(fraction + 0x1p21, number(bits, 22));
    Scalar field =
        apply(ScalarFunction::BitAnd, {shiftedRight(bits, number(bits, 52)), number(bits, 2047)});
    exponent = field - 1022.0;
  }
};

} // namespace

FixedPoint fixedPointOf(ComputeCall& call, const TensorHandle& factors) {
  Scalar top = call.integer(int64_t(1) << 31), zero = call.integer(0);
  TensorHandle multiplier = call.define(factors.shape(), [&](const Position& at) {
    Scalar factor = factors(at), significand = Parts(factor).significand;
    Scalar size = select(significand == top, call.integer(int64_t(1) << 30), significand);
    Scalar signed_ = select(factor < 0.0, -size, size);
    return cast(select(factor == 0.0, zero, signed_), Int32);
  });
  TensorHandle shift = call.define(factors.shape(), [&](const Position& at) {
    Scalar factor = factors(at);
    Parts parts(factor);
    Scalar exponent = parts.exponent + cast(parts.significand == top, Int64);
    return cast(select(factor == 0.0, zero, exponent), Int32);
  });
  return {multiplier, shift};
}

Scalar fixedPointProduct(Scalar value, const FixedPoint& factors, const Position& channel) {
  return apply(ScalarFunction::FixedPointMultiply,
               {value, factors.multiplier(channel), factors.shift(channel)});
}

namespace {

/// As fixedPointProduct(), with halves away from zero.
Scalar productToNearest(Scalar value, const FixedPoint& factors, const Position& channel) {
  Scalar shift = cast(factors.shift(channel), Int64);
  Scalar zero = number(shift, 0), one = number(shift, 1);
  Scalar product = shiftedLeft(cast(value, Int64), maximum(shift, zero)) *
                   cast(factors.multiplier(channel), Int64);
  Scalar right = maximum(-shift, zero) + 31.0;
  Scalar half = shiftedLeft(one, right - one);
  Scalar moved = shiftedRight(product + half - cast(product < zero, Int64), right);
  // A product has at most 62 bits; so far to the right, nothing is left of it.
  return cast(select(right > 63.0, zero, moved), Int32);
}

} // namespace

Requantizer::Requantizer(ComputeCall& call, Requantization how, const TensorHandle& ratio)
    : how_(how), ratio_(ratio) {
  if (how.type == RequantizeType::Int64)
    fixed_ = fixedPointOf(call, ratio);
}

Scalar Requantizer::operator()(Scalar value, Scalar from, Scalar to,
                               const Position& channel) const {
  return how_.type == RequantizeType::Int64 ? wholes(value, from, to, channel)
                                            : floats(value, from, to, channel);
}

Scalar Requantizer::wholes(Scalar value, Scalar from, Scalar to, const Position& channel) const {
  Scalar shifted = cast(value, Int32) - from;
  Scalar product = how_.roundsUpward ? fixedPointProduct(shifted, fixed_, channel)
                                     : productToNearest(shifted, fixed_, channel);
  return product + to;
}

Scalar Requantizer::floats(Scalar value, Scalar from, Scalar to, const Position& channel) const {
  DType dtype = how_.type == RequantizeType::Float32 ? Float32 : Float64;
  Scalar shifted = cast(value, dtype) - cast(from, dtype);
  Scalar scaled = shifted * cast(ratio_(channel), dtype) + cast(to, dtype);
  if (how_.roundsUpward)
    return cast(apply(ScalarFunction::Floor, {scaled + 0.5}), Int32);
  Scalar half = number(scaled, 0.5);
  Scalar biased = select(scaled < 0.0, scaled - half, scaled + half);
  return cast(apply(ScalarFunction::Trunc, {biased}), Int32);
}

namespace {

/// The bounds of an integer type of at most 32 bits.
struct Bounds {
  double low, high;

  explicit Bounds(DType dtype)
      : low(dtype.isSigned() ? -std::ldexp(1.0, dtype.bits - 1) : 0),
        high(std::ldexp(1.0, dtype.bits - (dtype.isSigned() ? 1 : 0)) - 1) {}
};

} // namespace

Scalar saturated(Scalar value, DType dtype) {
  if (dtype == value.dtype())
    return value;
  Bounds bounds(dtype);
  return cast(minimum(maximum(value, number(value, bounds.low)), number(value, bounds.high)),
              dtype);
}

Scalar quantized(Scalar x, Scalar scale, Scalar zeroPoint, DType dtype) {
  Bounds bounds(dtype);
  Scalar moved = apply(ScalarFunction::Round, {x / scale}) + cast(zeroPoint, Float32);
  Scalar low = number(moved, bounds.low), high = number(moved, bounds.high);
  // NaN is not less.
  Scalar bounded = maximum(select(moved < high, moved, high), low);
  return cast(bounded, dtype);
}

Scalar dequantized(Scalar value, Scalar scale, Scalar zeroPoint) {
  return cast(cast(value, Int32) - zeroPoint, Float32) * scale;
}

void giveScale(GradientCall& d, size_t i, const Term& share) {
  Term scale = d.operand(i), sum = castTo(share, scale.dtype());
  size_t rank = d.operand(0).rank();
  if (scale.rank() == 0)
    return give(d, i, sumOfAll(sum));
  // A single scale serves all channels, whatever `axis` says.
  bool isSingle = scale.dim(0)->isConstant() && scale.dim(0)->value == 1;
  give(d, i,
       rank == 0 || isSingle ? reshapedLike(sumOfAll(sum), scale)
                             : summedLike(summedExcept(sum, d.axis("axis", rank)), scale));
}

} // namespace stdlib
