// Operators that map every element of one tensor alone.
//
// Functions of real numbers also take integers, as the type relation of Relay does: the value is
// computed in float64 and truncated. Rounding functions leave integers as they are.
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/simplify.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::DType;

template <ScalarFunction function>
void mapAny(ComputeCall& call) {
  TensorHandle x = call.input(0);
  call.result([&](const Position& at) { return apply(function, {x(at)}); });
}

template <ScalarFunction function>
void mapReal(ComputeCall& call) {
  TensorHandle x = call.input(0);
  DType wide = x.dtype().isFloat() ? x.dtype() : runtime::Float64;
  call.result(
      [&](const Position& at) { return cast(apply(function, {cast(x(at), wide)}), x.dtype()); });
}

void copy(ComputeCall& call) {
  TensorHandle x = call.input(0);
  call.result([&](const Position& at) { return x(at); });
}

template <ScalarFunction function>
void roundFloats(ComputeCall& call) {
  call.input(0).dtype().isFloat() ? mapAny<function>(call) : copy(call);
}

template <int value>
void fill(ComputeCall& call) {
  call.result([&](const Position&) { return call.number(call.outputDType(), value); });
}

template <ScalarFunction function, bool onIntegers>
void testFloats(ComputeCall& call) {
  if (call.input(0).dtype().isFloat())
    return mapAny<function>(call);
  call.result([&](const Position&) { return call.number(runtime::Bool, onIntegers); });
}

void clip(ComputeCall& call) {
  TensorHandle x = call.input(0);
  Scalar low = constantOf(call, x.dtype(), call.attributes().real("a_min"));
  Scalar high = constantOf(call, x.dtype(), call.attributes().real("a_max"));
  call.result([&](const Position& at) { return minimum(maximum(x(at), low), high); });
}

void fixedPointMultiply(ComputeCall& call) {
  TensorHandle x = call.input(0);
  Scalar multiplier = call.number(runtime::Int32, double(call.attributes().integer("multiplier")));
  Scalar shift = call.number(runtime::Int32, double(call.attributes().integer("shift")));
  call.result([&](const Position& at) {
    return apply(ScalarFunction::FixedPointMultiply, {x(at), multiplier, shift});
  });
}

void fixedPointMultiplyPerAxis(ComputeCall& call) {
  TensorHandle x = call.input(0), multiplier = call.input(1);
  TensorHandle leftShift = call.input(2), rightShift = call.input(3);
  bool shiftsLeft = call.attributes().boolean("is_lshift_required");
  bool shiftsRight = call.attributes().boolean("is_rshift_required");
  auto axes = call.attributes().integers("axes");
  Scalar zero = call.integer(0), one = call.integer(1);
  call.result([&](const Position& at) {
    Position channel;
    for (int64_t axis : axes)
      channel.push_back(at[size_t(axis < 0 ? axis + int64_t(at.size()) : axis)]);
    auto shiftAt = [&](const TensorHandle& shifts, bool isUsed) {
      return isUsed ? maximum(cast(shifts(channel), runtime::Int64), zero) : zero;
    };
    Scalar value = apply(ScalarFunction::LeftShift,
                         {cast(x(at), runtime::Int64), shiftAt(leftShift, shiftsLeft)}) *
                   cast(multiplier(channel), runtime::Int64);
    Scalar total = shiftAt(rightShift, shiftsRight) + 31;
    Scalar half = apply(ScalarFunction::LeftShift, {one, total - 1});
    return cast(apply(ScalarFunction::RightShift, {value + half, total}), runtime::Int32);
  });
}

RelationResult boolOfShape(const RelationCall& call) {
  return call.solved(call.shape(0), runtime::Bool);
}

RelationResult integerRelation(const RelationCall& call) {
  if (call.dtype(0).isFloat())
    return call.failedAt(0, words("`data` must be integer or bool, but it is `{}`", call.dtype(0)));
  return sameAsFirst(call);
}

std::optional<RelationResult> requireInt32(const RelationCall& call, size_t i,
                                           std::string_view name) {
  if (call.dtype(i) == runtime::Int32)
    return std::nullopt;
  return call.failedAt(
      i, words("`{}` must be `{}`, but it is `{}`", name, runtime::Int32, call.dtype(i)));
}

RelationResult fixedPointRelation(const RelationCall& call) {
  if (auto problem = requireInt32(call, 0, "data"))
    return *problem;
  int64_t multiplier = call.attributes.integer("multiplier");
  if (multiplier != int32_t(multiplier))
    return call.failed(fmt::format("`multiplier` is {}, which is no int32", multiplier));
  int64_t shift = call.attributes.integer("shift");
  if (shift < -31 || shift > 31)
    return call.failed(fmt::format("`shift` is {}, which is outside -31 .. 31", shift));
  return sameAsFirst(call);
}

constexpr OperandRow perAxisOperands[] = {
    {"data", "int32 input"},
    {"fp_multiplier", "int32 multipliers in Q31, one per channel"},
    {"left_shift", "int32 left shifts, one per channel"},
    {"right_shift", "int32 right shifts, one per channel"},
};

RelationResult perAxisRelation(const RelationCall& call) {
  for (size_t i = 0; i < 4; ++i)
    if (auto problem = requireInt32(call, i, perAxisOperands[i].name))
      return *problem;
  std::vector<const Dim*> channels;
  for (int64_t axis : call.attributes.integers("axes")) {
    auto normal = call.normalAxis(axis, call.rank(0));
    if (!normal)
      return call.failed(
          fmt::format("axis {} does not exist in shape `{}`", axis, shapeText(call.shape(0))));
    channels.push_back(call.shape(0)[*normal]);
  }
  for (size_t i = 1; i < 4; ++i) {
    bool fits = call.rank(i) == channels.size();
    for (size_t k = 0; fits && k < channels.size(); ++k)
      fits = call.meetDims(call.shape(i)[k], channels[k]) != nullptr;
    if (!fits)
      return call.failedAt(i, fmt::format("`{}` has shape `{}`, but `axes` of the data have `{}`",
                                          perAxisOperands[i].name, shapeText(call.shape(i)),
                                          shapeText(Dims(channels))));
  }
  return sameAsFirst(call);
}

constexpr OperandRow dataOperand[] = {{"data", "the input"}};
constexpr std::string_view realDetails =
    "On integers the value is computed in float64 and truncated.";
constexpr std::string_view erfDetails =
    "On integers the value is computed in float64 and truncated. GELU is "
    "`0.5f * x * (1f + erf(0.70710678f * x))`.";
constexpr std::string_view sigmoidDetails =
    "On integers the value is computed in float64 and truncated. SiLU, which is called Swish too, "
    "is `x * sigmoid(x)`.";
constexpr std::string_view roundingDetails = "Integers are returned unchanged.";

/// A row with the type of its one operand.
constexpr OperatorRow unary(std::string_view name, std::string_view doc, std::string_view details,
                            void (*compute)(ComputeCall&), Gradient gradient,
                            std::span<const Example> examples,
                            RelationResult (*relation)(const RelationCall&) = sameAsFirst) {
  return {.name = name,
          .doc = doc,
          .details = details,
          .operands = dataOperand,
          .relation = relation,
          .compute = compute,
          .gradient = gradient,
          .examples = examples};
}

/// A function of real numbers.
template <ScalarFunction function>
constexpr OperatorRow real(std::string_view name, std::string_view doc,
                           void (*gradient)(GradientCall&), std::span<const Example> examples,
                           std::string_view details = realDetails) {
  return unary(name, doc, details, mapReal<function>, GradientRule{gradient}, examples)
      .meaning(NumbersMeant::Reals);
}

constexpr Example logExamples[] = {{"log([1f, 2f])", "[0f, 0.69314718f]"}};
constexpr Example log2Examples[] = {{"log2([1f, 8f])", "[0f, 3f]"}};
constexpr Example log10Examples[] = {{"log10([1f, 1000f])", "[0f, 3f]"}};
constexpr Example tanExamples[] = {{"tan([0f, 1f])", "[0f, 1.5574077f]"}};
constexpr Example cosExamples[] = {{"cos([0f, 1f])", "[1f, 0.54030231f]"}};
constexpr Example coshExamples[] = {{"cosh([0f, 1f])", "[1f, 1.5430806f]"}};
constexpr Example sinExamples[] = {{"sin([0f, 1f])", "[0f, 0.84147098f]"}};
constexpr Example sinhExamples[] = {{"sinh([0f, 1f])", "[0f, 1.1752012f]"}};
constexpr Example acosExamples[] = {{"acos([1f, 0f])", "[0f, 1.5707963f]"}};
constexpr Example acoshExamples[] = {{"acosh([1f, 2f])", "[0f, 1.3169579f]"}};
constexpr Example asinExamples[] = {{"asin([0f, 1f])", "[0f, 1.5707963f]"}};
constexpr Example asinhExamples[] = {{"asinh([0f, 1f])", "[0f, 0.88137359f]"}};
constexpr Example atanExamples[] = {{"atan([0f, 1f])", "[0f, 0.78539816f]"}};
constexpr Example atanhExamples[] = {{"atanh([0f, 0.5f])", "[0f, 0.54930614f]"}};
constexpr Example expExamples[] = {{"exp([0f, 1f])", "[1f, 2.7182818f]"}};
constexpr Example fastExpExamples[] = {{"fast_exp([0f, 1f])", "[1f, 2.7182818f]"}};
constexpr Example erfExamples[] = {{"erf([0f, 0.5f])", "[0f, 0.52049988f]"}};
constexpr Example fastErfExamples[] = {{"fast_erf([0f, 0.5f])", "[0f, 0.52049988f]"}};
constexpr Example sqrtExamples[] = {{"sqrt([4f, 2f])", "[2f, 1.4142136f]"}};
constexpr Example rsqrtExamples[] = {{"rsqrt([4f, 0.25f])", "[0.5f, 2f]"}};
constexpr Example sigmoidExamples[] = {{"sigmoid([0f, 1f])", "[0.5f, 0.73105858f]"}};
constexpr Example tanhExamples[] = {{"tanh([0f, 1f])", "[0f, 0.76159416f]"}};
constexpr Example fastTanhExamples[] = {{"fast_tanh([0f, 1f])", "[0f, 0.76159416f]"}};
constexpr Example floorExamples[] = {{"floor([1.5f, -1.5f])", "[1f, -2f]"}};
constexpr Example ceilExamples[] = {{"ceil([1.5f, -1.5f])", "[2f, -1f]"}};
constexpr Example truncExamples[] = {{"trunc([1.5f, -1.5f])", "[1f, -1f]"}};
constexpr Example roundExamples[] = {{"round([0.5f, 2.5f, -1.2f])", "[1f, 3f, -1f]"},
                                     {"round([7, -7])", "[7, -7]"}};
constexpr Example signExamples[] = {{"sign([-3f, 0f, 2f])", "[-1f, 0f, 1f]"},
                                    {"sign([-3, 0, 2])", "[-1, 0, 1]"}};
constexpr Example absExamples[] = {{"abs([-3f, 2f])", "[3f, 2f]"}};
constexpr Example negativeExamples[] = {{"negative([-3f, 2f])", "[3f, -2f]"}};
constexpr Example logicalNotExamples[] = {{"logical_not([True, False])", "[False, True]"}};
constexpr Example bitwiseNotExamples[] = {{"bitwise_not([0, 5])", "[-1, -6]"}};
constexpr Example isnanExamples[] = {{"isnan(sqrt([-1f, 4f]))", "[True, False]"}};
constexpr Example isfiniteExamples[] = {{"isfinite([1f, inff])", "[True, False]"}};
constexpr Example isinfExamples[] = {{"isinf([1f, inff])", "[False, True]"}};
constexpr Example copyExamples[] = {{"copy([1f, 2f])", "[1f, 2f]"}};
constexpr Example zerosLikeExamples[] = {{"zeros_like([1f, 2f])", "[0f, 0f]"}};
constexpr Example onesLikeExamples[] = {{"ones_like([5, 7])", "[1, 1]"}};
constexpr Example clipExamples[] = {{"clip([-1f, 0.5f, 9f], a_min=0f, a_max=6f)", "[0f, 0.5f, 6f]"},
                                    {"clip([-5, 3, 9], a_min=-1.5f, a_max=6f)", "[-1, 3, 6]"}};
constexpr Example fixedPointExamples[] = {
    {"fixed_point_multiply([10, -3], multiplier=1073741824, shift=1)", "[10, -3]"},
    {"fixed_point_multiply([10, -3], multiplier=1073741824, shift=0)", "[5, -1]"}};
constexpr Example perAxisExamples[] = {
    {"fixed_point_multiply_per_axis([[10, 10], [-3, 7]], [1073741824, 1073741824], [1, 0], "
     "[0, 1], is_lshift_required=True, is_rshift_required=True, axes=[1])",
     "[[10, 3], [-3, 2]]"}};

constexpr AttributeRow clipAttributes[] = {
    {"a_min", AttributeKind::Float, "", "the least value"},
    {"a_max", AttributeKind::Float, "", "the greatest value"},
};
constexpr AttributeRow fixedPointAttributes[] = {
    {"multiplier", AttributeKind::Int, "", "the multiplier in Q31: 2^31 stands for one"},
    {"shift", AttributeKind::Int, "", "the power of two to multiply by besides, -31 .. 31"},
};
constexpr AttributeRow perAxisAttributes[] = {
    {"is_lshift_required", AttributeKind::Bool, "False", "whether `left_shift` is applied"},
    {"is_rshift_required", AttributeKind::Bool, "False", "whether `right_shift` is applied"},
    {"axes", AttributeKind::IntList, "", "the axes of the data that index the other operands"},
};

void expGradient(GradientCall& d) {
  give(d, 0, d.cotangent() * d.result());
}

void tanhGradient(GradientCall& d) {
  give(d, 0, d.cotangent() * (1 - d.result() * d.result()));
}

void erfGradient(GradientCall& d) {
  Term x = d.operand(0), pi = map("acos", number(x, -1));
  give(d, 0, d.cotangent() * (2 / sqrt(pi)) * exp(-(x * x)));
}

/// With equal bounds, or the wrong way round, the result is the upper one always.
void clipGradient(GradientCall& d) {
  double low = d.attributes().real("a_min"), high = d.attributes().real("a_max");
  if (low >= high)
    return giveZeros(d);
  Term x = d.operand(0);
  give(d, 0, maskedBy(x > low && x < high, d.cotangent()));
}

/// The logarithm to a base has the derivative `1 / (x log(base))`.
template <int base>
void logGradient(GradientCall& d) {
  give(d, 0, d.cotangent() / (d.operand(0) * log(number(d.operand(0), base))));
}

/// The root of `1 - x^2`, of which the inverse circular functions have derivatives.
Term circle(const Term& x) {
  return sqrt(1 - x * x);
}

constexpr GradientExample absKink[] = {{"abs([-3f, 0f, 2f])", "[1f, 1f, 1f]", "[-1f, 0f, 1f]"}};
constexpr GradientExample clipBounds[] = {{"clip([-1f, 0f, 3f, 6f, 9f], a_min=0f, a_max=6f)",
                                           "[1f, 1f, 1f, 1f, 1f]", "[0f, 0f, 1f, 0f, 0f]"}};

void simplifyCopy(SimplifyCall& s) {
  s.becomesIfTyped(s.operand(0));
}

/// What undoes itself.
void simplifyNegative(SimplifyCall& s) {
  becomesUndone(s, "negative");
}

/// A truth value negated twice; other numbers become 0 or 1.
void simplifyNot(SimplifyCall& s) {
  if (s.resultType()->dtype == runtime::Bool)
    becomesUndone(s, "logical_not");
}

/// Only the type of the operand counts: another tensor that has it is as good, and one that stands
/// before makes what comes after unneeded.
template <int value>
void simplifyFill(SimplifyCall& s) {
  Term like = s.operand(0);
  if (like.rank() == 0) {
    s.becomesIfTyped(number(like, value));
    return;
  }
  if (isStatic(like.shape())) {
    s.becomesIfTyped(s.call(value == 0 ? "zeros" : "ones", {},
                            {{"shape", extentsOf(like.shape())}, {"dtype", like.dtype()}}));
    return;
  }
  auto made = s.madeBy(like);
  if (!made || !isSameShape(like.shape(), like.shape()))
    return;
  for (const Term& earlier : made->operands)
    if (earlier.type() == like.type()) {
      s.becomesIfTyped(value == 0 ? zerosLike(earlier) : onesLike(earlier));
      return;
    }
}

constexpr SimplifyExample negativeSimpler[] = {{"negative(negative(%x))", "%x"}};
constexpr SimplifyExample notSimpler[] = {{"logical_not(logical_not(%x < %y))", "%x < %y"}};
constexpr SimplifyExample copySimpler[] = {{"copy(%x)", "%x"}};
constexpr SimplifyExample zerosLikeSimpler[] = {
    {"zeros_like(exp(%n))", "zeros_like(%n)"},
    {"zeros_like(%x)", "zeros(shape=[2, 3], dtype=\"float32\")"},
    {"zeros_like(2f)", "0f"}};
constexpr SimplifyExample onesLikeSimpler[] = {
    {"ones_like(1f + %n)", "ones_like(%n)"},
    {"ones_like(%i)", "ones(shape=[2, 3], dtype=\"int32\")"},
    {"ones_like(2)", "1"}};

constexpr OperatorRow rows[] = {
    real<ScalarFunction::Log>(
        "log", "The natural logarithm.",
        [](GradientCall& d) { give(d, 0, d.cotangent() / d.operand(0)); }, logExamples),
    real<ScalarFunction::Log2>("log2", "The logarithm to base 2.", logGradient<2>, log2Examples),
    real<ScalarFunction::Log10>("log10", "The logarithm to base 10.", logGradient<10>,
                                log10Examples),
    real<ScalarFunction::Tan>(
        "tan", "The tangent of an angle in radians.",
        [](GradientCall& d) { give(d, 0, d.cotangent() * (1 + d.result() * d.result())); },
        tanExamples),
    real<ScalarFunction::Cos>(
        "cos", "The cosine of an angle in radians.",
        [](GradientCall& d) { give(d, 0, -(d.cotangent() * map("sin", d.operand(0)))); },
        cosExamples),
    real<ScalarFunction::Cosh>(
        "cosh", "The hyperbolic cosine.",
        [](GradientCall& d) { give(d, 0, d.cotangent() * map("sinh", d.operand(0))); },
        coshExamples),
    real<ScalarFunction::Sin>(
        "sin", "The sine of an angle in radians.",
        [](GradientCall& d) { give(d, 0, d.cotangent() * map("cos", d.operand(0))); }, sinExamples),
    real<ScalarFunction::Sinh>(
        "sinh", "The hyperbolic sine.",
        [](GradientCall& d) { give(d, 0, d.cotangent() * map("cosh", d.operand(0))); },
        sinhExamples),
    real<ScalarFunction::Acos>(
        "acos", "The inverse cosine, between 0 and pi.",
        [](GradientCall& d) { give(d, 0, -(d.cotangent() / circle(d.operand(0)))); }, acosExamples),
    real<ScalarFunction::Acosh>(
        "acosh", "The inverse hyperbolic cosine.",
        [](GradientCall& d) {
          give(d, 0, d.cotangent() / (sqrt(d.operand(0) - 1) * sqrt(d.operand(0) + 1)));
        },
        acoshExamples),
    real<ScalarFunction::Asin>(
        "asin", "The inverse sine, between -pi/2 and pi/2.",
        [](GradientCall& d) { give(d, 0, d.cotangent() / circle(d.operand(0))); }, asinExamples),
    real<ScalarFunction::Asinh>(
        "asinh", "The inverse hyperbolic sine.",
        [](GradientCall& d) { give(d, 0, d.cotangent() / sqrt(1 + d.operand(0) * d.operand(0))); },
        asinhExamples),
    real<ScalarFunction::Atan>(
        "atan", "The inverse tangent, between -pi/2 and pi/2.",
        [](GradientCall& d) { give(d, 0, d.cotangent() / (1 + d.operand(0) * d.operand(0))); },
        atanExamples),
    real<ScalarFunction::Atanh>(
        "atanh", "The inverse hyperbolic tangent.",
        [](GradientCall& d) { give(d, 0, d.cotangent() / (1 - d.operand(0) * d.operand(0))); },
        atanhExamples),
    real<ScalarFunction::Exp>("exp", "e to the power of the input.", expGradient, expExamples),
    real<ScalarFunction::Exp>("fast_exp", "As `exp`, where an approximation would do.", expGradient,
                              fastExpExamples, "Computes the exact function."),
    real<ScalarFunction::Erf>("erf", "The Gauss error function.", erfGradient, erfExamples,
                              erfDetails),
    real<ScalarFunction::Erf>("fast_erf", "As `erf`, where an approximation would do.", erfGradient,
                              fastErfExamples, "Computes the exact function."),
    real<ScalarFunction::Sqrt>(
        "sqrt", "The square root; NaN below zero.",
        [](GradientCall& d) { give(d, 0, d.cotangent() / (2 * d.result())); }, sqrtExamples),
    real<ScalarFunction::Rsqrt>(
        "rsqrt", "One over the square root.",
        [](GradientCall& d) { give(d, 0, -(d.cotangent() * d.result() / (2 * d.operand(0)))); },
        rsqrtExamples),
    real<ScalarFunction::Sigmoid>(
        "sigmoid", "The logistic function, `1 / (1 + exp(-x))`.",
        [](GradientCall& d) { give(d, 0, d.cotangent() * d.result() * (1 - d.result())); },
        sigmoidExamples, sigmoidDetails),
    real<ScalarFunction::Tanh>("tanh", "The hyperbolic tangent.", tanhGradient, tanhExamples),
    real<ScalarFunction::Tanh>("fast_tanh", "As `tanh`, where an approximation would do.",
                               tanhGradient, fastTanhExamples, "Computes the exact function."),
    unary("floor", "The largest integer not above the input.", roundingDetails,
          roundFloats<ScalarFunction::Floor>, stepFunction, floorExamples),
    unary("ceil", "The smallest integer not below the input.", roundingDetails,
          roundFloats<ScalarFunction::Ceil>, stepFunction, ceilExamples),
    unary("trunc", "The input without its fraction.", roundingDetails,
          roundFloats<ScalarFunction::Trunc>, stepFunction, truncExamples),
    unary("round", "The nearest integer, halves away from zero.", roundingDetails,
          roundFloats<ScalarFunction::Round>, stepFunction, roundExamples),
    unary("sign", "-1, 0 or 1 as the input is below, at or above zero.", "The sign of NaN is NaN.",
          mapAny<ScalarFunction::Sign>, stepFunction, signExamples),
    unary(
        "abs", "The magnitude of the input.",
        "The least signed integer wraps to itself. The derivative at zero is taken as 0.",
        mapAny<ScalarFunction::Abs>,
        GradientRule{[](GradientCall& d) { give(d, 0, d.cotangent() * map("sign", d.operand(0))); },
                     absKink},
        absExamples),
    simplifiedBy(unary("negative", "The input with the other sign.", "Integers wrap.",
                       mapAny<ScalarFunction::Negative>,
                       GradientRule{[](GradientCall& d) { give(d, 0, -d.cotangent()); }},
                       negativeExamples)
                     .inRole(Role::Negate),
                 {simplifyNegative, negativeSimpler}),
    simplifiedBy(unary("logical_not", "True where the input is false.",
                       "On other types than bool, 1 where the input is zero and else 0.",
                       mapAny<ScalarFunction::LogicalNot>, truthValue, logicalNotExamples)
                     .inRole(Role::Not),
                 {simplifyNot, notSimpler}),
    unary("bitwise_not", "Every bit of an integer turned over.", "", mapAny<ScalarFunction::BitNot>,
          integerValued, bitwiseNotExamples, integerRelation),
    {.name = "clip",
     .synonyms = "clamp clip_by_value",
     .doc = "The input held between two bounds, `min(max(x, a_min), a_max)`.",
     .details = "The bounds are rounded to the type of the input; for integers they are truncated "
                "and saturated. The derivative at a bound is 0.",
     .operands = dataOperand,
     .attributes = clipAttributes,
     .attributesKey = "relay.attrs.ClipAttrs",
     .relation = sameAsFirst,
     .compute = clip,
     .gradient = GradientRule{clipGradient, clipBounds},
     .examples = clipExamples},
    unary("isnan", "True where the input is NaN.", "", testFloats<ScalarFunction::IsNan, false>,
          truthValue, isnanExamples, boolOfShape),
    unary("isfinite", "True where the input is neither infinite nor NaN.", "",
          testFloats<ScalarFunction::IsFinite, true>, truthValue, isfiniteExamples, boolOfShape),
    unary("isinf", "True where the input is infinite.", "",
          testFloats<ScalarFunction::IsInf, false>, truthValue, isinfExamples, boolOfShape),
    simplifiedBy(unary("copy", "The input itself.", "", copy,
                       GradientRule{[](GradientCall& d) { give(d, 0, d.cotangent()); }},
                       copyExamples),
                 {simplifyCopy, copySimpler}),
    {.name = "fixed_point_multiply",
     .doc = "An int32 tensor times a fixed-point constant, `x * multiplier * 2^(shift - 31)`.",
     .details = "The product is exact; halves round up.",
     .operands = dataOperand,
     .attributes = fixedPointAttributes,
     .attributesKey = "relay.attrs.FixedPointMultiplyAttrs",
     .relation = fixedPointRelation,
     .compute = fixedPointMultiply,
     .gradient = integerValued,
     .examples = fixedPointExamples},
    {.name = "fixed_point_multiply_per_axis",
     .doc = "An int32 tensor times fixed-point factors, one for each position along some axes.",
     .details = "`x * 2^left_shift * fp_multiplier * 2^(-31 - right_shift)` in 64 bits; halves "
                "round up. A shift that is not required counts as zero, and so does a negative "
                "one.",
     .operands = perAxisOperands,
     .attributes = perAxisAttributes,
     .attributesKey = "relay.attrs.FixedPointMultiplyPerAxisAttrs",
     .relation = perAxisRelation,
     .compute = fixedPointMultiplyPerAxis,
     .gradient = integerValued,
     .examples = perAxisExamples},
    simplifiedBy(withRole(unary("zeros_like", "Zeros in the shape and type of the input.", "",
                                fill<0>, constantResult, zerosLikeExamples),
                          lang::Role::ZerosLike),
                 {simplifyFill<0>, zerosLikeSimpler}),
    simplifiedBy(withRole(unary("ones_like", "Ones in the shape and type of the input.", "",
                                fill<1>, constantResult, onesLikeExamples),
                          lang::Role::OnesLike),
                 {simplifyFill<1>, onesLikeSimpler}),
};

constexpr Synonyms synonyms[] = {{"log", "ln"},        {"acos", "arccos"},
                                 {"acosh", "arccosh"}, {"asin", "arcsin"},
                                 {"asinh", "arcsinh"}, {"atan", "arctan"},
                                 {"atanh", "arctanh"}, {"sigmoid", "logistic expit"},
                                 {"ceil", "ceiling"},  {"trunc", "truncate fix"},
                                 {"sign", "sgn"},      {"abs", "absolute fabs"},
                                 {"negative", "neg"},  {"bitwise_not", "~ invert"},
                                 {"logical_not", "!"}, {"copy", "clone identity"}};

constexpr auto namedRows = alsoCalled(rows, synonyms);

} // namespace

lang::OperatorFamily elementwiseFamily() {
  return namedRows;
}

} // namespace stdlib
