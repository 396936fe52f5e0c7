// Operators that map two tensors element by element after numpy broadcasting, and `where`.
//
// Both operands must have the same element type; nothing is converted silently. Gradients are
// summed back to the shapes of the operands.
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/simplify.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

template <ScalarFunction function>
void zip(ComputeCall& call) {
  TensorHandle lhs = call.input(0), rhs = call.input(1);
  Extents whole = call.outputShape();
  call.result([&](const Position& at) {
    return apply(function, {lhs(broadcastTo(at, whole, lhs.shape())),
                            rhs(broadcastTo(at, whole, rhs.shape()))});
  });
}

void computeWhere(ComputeCall& call) {
  TensorHandle condition = call.input(0), x = call.input(1), y = call.input(2);
  Extents whole = call.outputShape();
  call.result([&](const Position& at) {
    Scalar chosen = cast(condition(broadcastTo(at, whole, condition.shape())), runtime::Bool);
    return select(chosen, x(broadcastTo(at, whole, x.shape())),
                  y(broadcastTo(at, whole, y.shape())));
  });
}

constexpr OperandRow operands[] = {{"lhs", "the left operand"}, {"rhs", "the right operand"}};
constexpr OperandRow whereOperands[] = {
    {"condition", "what decides: zero or not, of any type"},
    {"x", "the values where the condition is not zero"},
    {"y", "the values where the condition is zero"},
};

RelationResult broadcastWith(const RelationCall& call, runtime::DType dtype) {
  auto shape = call.broadcastShapes(call.shape(0), call.shape(1));
  return shape ? call.solved(*shape, dtype) : broadcastFailure(call, operands, 0, 1);
}

RelationResult arithmeticRelation(const RelationCall& call) {
  if (auto problem = requireSameDType(call, operands, 0, 1))
    return *problem;
  return broadcastWith(call, call.dtype(0));
}

RelationResult integerRelation(const RelationCall& call) {
  for (size_t i = 0; i < 2; ++i)
    if (call.dtype(i).isFloat())
      return call.failedAt(i, words("the operands must be integers or bools, but `{}` is `{}`",
                                    operands[i].name, call.dtype(i)));
  return arithmeticRelation(call);
}

RelationResult comparisonRelation(const RelationCall& call) {
  if (auto problem = requireSameDType(call, operands, 0, 1))
    return *problem;
  return broadcastWith(call, runtime::Bool);
}

RelationResult whereRelation(const RelationCall& call) {
  if (auto problem = requireSameDType(call, whereOperands, 1, 2))
    return *problem;
  auto values = call.broadcastShapes(call.shape(1), call.shape(2));
  if (!values)
    return broadcastFailure(call, whereOperands, 1, 2);
  auto shape = call.broadcastShapes(call.shape(0), *values);
  if (shape) {
    // What two values leave open by quotients is open in the result.
    auto saysMore = [&](size_t i, size_t back) {
      return call.rank(i) < back || !call.shape(i)[call.rank(i) - back]->isAny();
    };
    for (size_t back = 1; back <= values->size(); ++back)
      if ((*values)[values->size() - back]->isAny() && saysMore(1, back) && saysMore(2, back))
        (*shape)[shape->size() - back] = call.types.any();
    return call.solved(*shape, call.dtype(1));
  }
  bool meetsX = call.broadcastShapes(call.shape(0), call.shape(1)).has_value();
  return broadcastFailure(call, whereOperands, meetsX ? 2 : 1, 0);
}

/// Axes behind those of operand `i`, so that they meet earlier axes of the other.
Fix axesBehindFix(const RelationCall& call, Relation relation, size_t i) {
  size_t rank = call.rank(i), other = call.rank(1 - i);
  if (rank == 0 || rank >= other || other > highestFixedRank)
    return std::nullopt;
  for (size_t count = 1; count <= other - rank; ++count) {
    std::vector<const Dim*> shape(call.shape(i).begin(), call.shape(i).end());
    shape.resize(rank + count, call.types.constant(1));
    if (!Trial(call).shape(i, shape).holds(relation))
      continue;
    return wrapFix(fmt::format("shapes are aligned at their ends; add {} behind: {{}}",
                               counted(int64_t(count), "axis")),
                   i, "expand_dims(",
                   fmt::format(", axis={}{})", rank,
                               count == 1 ? "" : fmt::format(", num_newaxis={}", count)));
  }
  return std::nullopt;
}

/// What makes pictures of equal size, when one lost as much on all sides as a window without
/// padding takes.
Fix unpaddedFix(const RelationCall& call) {
  Dims a = call.shape(0), b = call.shape(1);
  if (a.size() != 4 || b.size() != 4)
    return std::nullopt;
  std::vector<int64_t> losses;
  for (size_t i = 0; i < 4; ++i) {
    if (call.broadcastDims(a[i], b[i]))
      continue;
    if (!a[i]->isConstant() || !b[i]->isConstant())
      return std::nullopt;
    losses.push_back(a[i]->value - b[i]->value);
  }
  if (losses.size() != 2 || losses[0] != losses[1])
    return std::nullopt;
  int64_t lost = losses[0] < 0 ? -losses[0] : losses[0];
  if (lost % 2 != 0 || lost > 10)
    return std::nullopt;
  lang::CallFix fact{fmt::format("is smaller by {} in both: a {} x {} convolution takes as much, "
                                 "unless it has `padding=[{}, {}]`",
                                 lost, lost + 1, lost + 1, lost / 2, lost / 2)};
  fact.about = losses[0] < 0 ? 0 : 1;
  return fact;
}

template <Relation relation>
Fixes fix(const RelationCall& call) {
  Fixes fixes = firstFixes({axesBehindFix(call, relation, 1), axesBehindFix(call, relation, 0)});
  if (call.rank(0) == call.rank(1))
    addFallbacks(fixes,
                 firstFixes({transposeFix(call, relation, 1), transposeFix(call, relation, 0)}));
  addFallbacks(fixes, fixesOf(unpaddedFix(call)));
  return fixes;
}

constexpr std::string_view tieDetails =
    "NaN when either operand is. Where both are equal, each gets half of the gradient.";
constexpr std::string_view truthDetails =
    "Non-zero is true; the result has the type of the operands, 0 or 1.";

constexpr OperatorRow binary(std::string_view name, std::string_view doc, std::string_view details,
                             RelationResult (*relation)(const RelationCall&),
                             void (*compute)(ComputeCall&), Gradient gradient,
                             std::span<const Example> examples, std::string_view infix = {}) {
  return {.name = name,
          .doc = doc,
          .details = details,
          .operands = operands,
          .relation = relation,
          .compute = compute,
          .gradient = gradient,
          .examples = examples,
          .infix = infix};
}

template <ScalarFunction function>
constexpr OperatorRow arithmetic(std::string_view name, std::string_view doc,
                                 std::string_view details, Gradient gradient,
                                 std::span<const Example> examples, std::string_view infix = {}) {
  return binary(name, doc, details, withFix<arithmeticRelation, fix<arithmeticRelation>>,
                zip<function>, gradient, examples, infix);
}

template <ScalarFunction function>
constexpr OperatorRow bitwise(std::string_view name, std::string_view doc,
                              std::span<const Example> examples, std::string_view details = {}) {
  return binary(name, doc, details, withFix<integerRelation, fix<integerRelation>>, zip<function>,
                integerValued, examples);
}

template <ScalarFunction function>
constexpr OperatorRow comparison(std::string_view name, std::string_view doc,
                                 std::span<const Example> examples, std::string_view infix) {
  return binary(name, doc, {}, withFix<comparisonRelation, fix<comparisonRelation>>, zip<function>,
                truthValue, examples, infix);
}

constexpr Example addExamples[] = {{"add([[1f], [2f]], [10f, 20f])", "[[11f, 21f], [12f, 22f]]"},
                                   {"[1, 2] + 3", "[4, 5]"}};
constexpr Example subtractExamples[] = {{"[1f, 2f] - [3f, 5f]", "[-2f, -3f]"}};
constexpr Example multiplyExamples[] = {{"[1f, 2f] * [3f, 5f]", "[3f, 10f]"}};
constexpr Example divideExamples[] = {{"[1f, 3f] / [2f, 4f]", "[0.5f, 0.75f]"},
                                      {"[7, -7] / 2", "[3, -3]"}};
constexpr Example floorDivideExamples[] = {{"floor_divide([7, -7], 2)", "[3, -4]"},
                                           {"floor_divide([-3.5f], 2f)", "[-2f]"}};
constexpr Example truncDivideExamples[] = {{"trunc_divide([7, -7], 2)", "[3, -3]"},
                                           {"trunc_divide([-3.5f], 2f)", "[-1f]"}};
constexpr Example modExamples[] = {{"mod([7, -7], 3)", "[1, -1]"}};
constexpr Example floorModExamples[] = {{"floor_mod([7, -7], 3)", "[1, 2]"}};
constexpr Example truncModExamples[] = {{"trunc_mod([7, -7], 3)", "[1, -1]"},
                                        {"trunc_mod([-3.5f], 2f)", "[-1.5f]"}};
constexpr Example powerExamples[] = {{"power([2f, 9f], [3f, 0.5f])", "[8f, 3f]"}};
constexpr Example maximumExamples[] = {{"maximum([1f, 5f], [2f, 3f])", "[2f, 5f]"}};
constexpr Example minimumExamples[] = {{"minimum([1f, 5f], [2f, 3f])", "[1f, 3f]"}};
constexpr Example leftShiftExamples[] = {{"left_shift([1, 3], [4, 1])", "[16, 6]"}};
constexpr Example rightShiftExamples[] = {{"right_shift([16, -3], [4, 1])", "[1, -2]"}};
constexpr Example logicalAndExamples[] = {
    {"logical_and([True, True, False], [True, False, False])", "[True, False, False]"}};
constexpr Example logicalOrExamples[] = {
    {"logical_or([True, True, False], [True, False, False])", "[True, True, False]"}};
constexpr Example logicalXorExamples[] = {
    {"logical_xor([True, True, False], [True, False, False])", "[False, True, False]"}};
constexpr Example bitwiseAndExamples[] = {{"bitwise_and([12, 5], 6)", "[4, 4]"}};
constexpr Example bitwiseOrExamples[] = {{"bitwise_or([12, 5], 6)", "[14, 7]"}};
constexpr Example bitwiseXorExamples[] = {{"bitwise_xor([12, 5], 6)", "[10, 3]"}};
constexpr Example equalExamples[] = {{"[1, 2] == [1, 3]", "[True, False]"}};
constexpr Example notEqualExamples[] = {{"[1, 2] != [1, 3]", "[False, True]"}};
constexpr Example lessExamples[] = {{"[1, 2, 3] < 2", "[True, False, False]"}};
constexpr Example lessEqualExamples[] = {{"[1, 2, 3] <= 2", "[True, True, False]"}};
constexpr Example greaterExamples[] = {{"[1, 2, 3] > 2", "[False, False, True]"}};
constexpr Example greaterEqualExamples[] = {{"[1, 2, 3] >= 2", "[False, True, True]"}};
constexpr Example whereExamples[] = {
    {"where([[True], [False]], [1f, 2f], 0f)", "[[1f, 2f], [0f, 0f]]"}};

void multiplyGradient(GradientCall& d) {
  toBroadcast(d, 0, d.cotangent() * d.operand(1));
  toBroadcast(d, 1, d.cotangent() * d.operand(0));
}

void divideGradient(GradientCall& d) {
  Term share = d.cotangent() / d.operand(1);
  toBroadcast(d, 0, share);
  toBroadcast(d, 1, -(share * d.result()));
}

/// A remainder is `lhs - quotient * rhs`, where the whole quotient is constant almost everywhere.
void remainderGradient(GradientCall& d, std::string_view quotient) {
  toBroadcast(d, 0, d.cotangent());
  toBroadcast(d, 1, -(d.cotangent() * d.call(quotient, {d.operand(0), d.operand(1)})));
}

void truncModGradient(GradientCall& d) {
  remainderGradient(d, "trunc_divide");
}

void floorModGradient(GradientCall& d) {
  remainderGradient(d, "floor_divide");
}

/// `x^0` is 1 for every `x`, so the exponent 0 never reaches `0^-1`: elsewhere it does, for the
/// rule is differentiated by the exponent too. A logarithm is taken of positive bases only.
void powerGradient(GradientCall& d) {
  Term x = d.operand(0), y = d.operand(1);
  Term base = where(x == 0 && y == 0, number(x, 1), x);
  toBroadcast(d, 0, d.cotangent() * y * power(base, y - 1));
  Term positive = where(x > 0, x, number(x, 1));
  toBroadcast(d, 1, d.cotangent() * d.result() * log(positive));
}

/// The cotangent goes to the operand that the result is; both get half of it where they are equal.
void extremeGradient(GradientCall& d) {
  Term x = d.operand(0), y = d.operand(1), half = d.cotangent() * 0.5;
  Term shared = maskedBy(x == y, half);
  Term first = maskedBy(x == d.result(), d.cotangent()) - shared;
  toBroadcast(d, 0, first);
  toBroadcast(d, 1, maskedBy(y == d.result(), d.cotangent()) - shared);
}

void whereGradient(GradientCall& d) {
  toBroadcast(d, 1, maskedBy(d.operand(0), d.cotangent()));
  toBroadcast(d, 2, unlessMasked(d.operand(0), d.cotangent()));
}

/// A sum with a negation is a difference.
bool becomesDifference(SimplifyCall& s) {
  for (size_t i : {1, 0})
    if (auto negated = s.madeBy(s.operand(i), "negative"))
      return s.becomesIfTyped(s.operand(1 - i) - negated->operands[0]);
  return false;
}

/// The sum of a number and itself, which is exact as twice that number is.
bool becomesDouble(SimplifyCall& s) {
  Term x = s.operand(0);
  bool isNumber = x.dtype().isFloat() || x.dtype().bits > 2;
  return isNumber && x.atom() == s.operand(1).atom() && s.becomesIfTyped(2 * x);
}

void simplifyAdd(SimplifyCall& s) {
  if (!becomesBeside(s, 0, 0) && !becomesBeside(s, 1, 0) && !becomesDifference(s) &&
      !becomesDouble(s))
    becomesUnbroadcast(s);
}

void simplifySubtract(SimplifyCall& s) {
  Term x = s.operand(0), y = s.operand(1);
  if (becomesBeside(s, 0, 0))
    return;
  // Of floats the difference of zeros is a zero with the other sign, which many operands hold.
  if (!x.dtype().isFloat() && isFilledWith(s, x, 0) && keepsShape(s, y, x) && s.becomesIfTyped(-y))
    return;
  if (auto negated = s.madeBy(y, "negative"); negated && s.becomesIfTyped(x + negated->operands[0]))
    return;
  becomesUnbroadcast(s);
}

void simplifyMultiply(SimplifyCall& s) {
  if (becomesBeside(s, 0, 1) || becomesBeside(s, 1, 1))
    return;
  for (size_t i : {0, 1}) {
    Term x = s.operand(i), other = s.operand(1 - i);
    bool isSigned = x.dtype().isFloat() || x.dtype().isSigned();
    if (isSigned && isFilledWith(s, other, -1) && keepsShape(s, x, other) && s.becomesIfTyped(-x))
      return;
  }
  becomesUnbroadcast(s);
}

void simplifyDivide(SimplifyCall& s) {
  if (!becomesBeside(s, 0, 1))
    becomesUnbroadcast(s);
}

void simplifyPower(SimplifyCall& s) {
  becomesBeside(s, 0, 1);
}

/// The larger or smaller one of a tensor and itself.
void simplifyExtreme(SimplifyCall& s) {
  if (s.operand(0).atom() == s.operand(1).atom())
    s.becomesIfTyped(s.operand(0));
}

void simplifyWhere(SimplifyCall& s) {
  Term condition = s.operand(0), x = s.operand(1), y = s.operand(2);
  bool isEither = x.atom() == y.atom() || (isFilledWith(s, x, 0) && isFilledWith(s, y, 0));
  for (auto [chosen, other, isChosen] :
       {std::tuple(x, y, isFilledWith(s, condition, 1)), {y, x, isFilledWith(s, condition, 0)}})
    if ((isEither || isChosen) && keepsShape(s, chosen, other) &&
        keepsShape(s, chosen, condition) && s.becomesIfTyped(chosen))
      return;
}

constexpr SimplifyExample addSimpler[] = {{"%x + 0f", "%x"},
                                          {"zeros_like(%y) + %x", "%x"},
                                          {"%n + zeros_like(%n)", "%n"},
                                          {"%x + negative(%t)", "%x - %t"},
                                          {"negative(%x) + %y", "%y - %x"},
                                          {"%x + %x", "2f * %x"},
                                          {"broadcast_to_like(%x, %t) + %t", "%x + %t"}};
constexpr SimplifyExample subtractSimpler[] = {
    {"%x - 0f", "%x"},
    {"0 - %i", "negative(%i)"},
    {"%x - negative(%y)", "%x + %y"},
    {"%t - broadcast_to(%x, shape=[4, 2, 3])", "%t - %x"}};
constexpr SimplifyExample multiplySimpler[] = {{"%x * 1f", "%x"},
                                               {"1 * %i", "%i"},
                                               {"%n * ones_like(%n)", "%n"},
                                               {"%x * -1f", "negative(%x)"},
                                               {"broadcast_to_like(2f, %n) * %n", "2f * %n"}};
constexpr SimplifyExample divideSimpler[] = {{"%x / 1f", "%x"},
                                             {"%i / 1", "%i"},
                                             {"%x / broadcast_to_like(3f, %x)", "%x / 3f"},
                                             {"%t / expand_dims(%x, axis=0)", "%t / %x"}};
constexpr SimplifyExample powerSimpler[] = {{"power(%x, 1f)", "%x"}};
constexpr SimplifyExample maximumSimpler[] = {{"maximum(%x, %x)", "%x"}};
constexpr SimplifyExample minimumSimpler[] = {{"minimum(%x, %x)", "%x"}};
constexpr SimplifyExample whereSimpler[] = {
    {"where(%x < %y, %x, %x)", "%x"},
    {"where(True, %x, %y)", "%x"},
    {"where(False, 1f, %x)", "%x"},
    {"where(%x < %y, 0f, zeros_like(%x))", "zeros(shape=[2, 3], dtype=\"float32\")"}};

constexpr GradientExample maximumTies[] = {
    {"maximum([1f, 5f, 2f], [2f, 5f, 1f])", "[1f, 1f, 1f]", "([0f, 0.5f, 1f], [1f, 0.5f, 0f])"}};
constexpr GradientExample minimumTies[] = {
    {"minimum([1f, 5f, 2f], [2f, 5f, 1f])", "[1f, 1f, 1f]", "([1f, 0.5f, 0f], [0f, 0.5f, 1f])"}};
constexpr GradientExample powerEdges[] = {
    {"power([0f, 0f, 0f], [0f, 1f, 2f])", "[1f, 1f, 1f]", "([0f, 1f, 0f], [0f, 0f, 0f])"}};

constexpr OperatorRow rows[] = {
    simplifiedBy(arithmetic<ScalarFunction::Add>("add", "The sum.", "Integers wrap.",
                                                 GradientRule{[](GradientCall& d) {
                                                   toBroadcast(d, 0, d.cotangent());
                                                   toBroadcast(d, 1, d.cotangent());
                                                 }},
                                                 addExamples, "+"),
                 {simplifyAdd, addSimpler}),
    simplifiedBy(arithmetic<ScalarFunction::Subtract>("subtract", "The difference.",
                                                      "Integers wrap.",
                                                      GradientRule{[](GradientCall& d) {
                                                        toBroadcast(d, 0, d.cotangent());
                                                        toBroadcast(d, 1, -d.cotangent());
                                                      }},
                                                      subtractExamples, "-"),
                 {simplifySubtract, subtractSimpler}),
    simplifiedBy(arithmetic<ScalarFunction::Multiply>("multiply", "The product.", "Integers wrap.",
                                                      GradientRule{multiplyGradient},
                                                      multiplyExamples, "*"),
                 {simplifyMultiply, multiplySimpler}),
    simplifiedBy(arithmetic<ScalarFunction::Divide>(
                     "divide", "The quotient.", "Integers truncate toward zero.",
                     GradientRule{divideGradient}, divideExamples, "/"),
                 {simplifyDivide, divideSimpler}),
    arithmetic<ScalarFunction::FloorDivide>("floor_divide",
                                            "The largest integer not above the quotient.", "",
                                            stepFunction, floorDivideExamples)
        .inRole(Role::FloorDivide),
    arithmetic<ScalarFunction::TruncDivide>("trunc_divide", "The quotient without its fraction.",
                                            "", stepFunction, truncDivideExamples),
    arithmetic<ScalarFunction::TruncMod>("mod", "The remainder with the sign of `lhs`.",
                                         "The same as `trunc_mod`.", GradientRule{truncModGradient},
                                         modExamples),
    arithmetic<ScalarFunction::FloorMod>("floor_mod", "The remainder with the sign of `rhs`.",
                                         "`lhs - floor(lhs / rhs) * rhs`",
                                         GradientRule{floorModGradient}, floorModExamples, "%"),
    arithmetic<ScalarFunction::TruncMod>("trunc_mod", "The remainder with the sign of `lhs`.",
                                         "`lhs - trunc(lhs / rhs) * rhs`",
                                         GradientRule{truncModGradient}, truncModExamples),
    simplifiedBy(arithmetic<ScalarFunction::Power>(
                     "power", "`lhs` to the power of `rhs`.",
                     "Integers wrap. The gradient of the exponent is taken as "
                     "zero where `lhs` is not positive.",
                     GradientRule{powerGradient, powerEdges}, powerExamples, "**")
                     .meaning(NumbersMeant::RealsOfNegativePowers),
                 {simplifyPower, powerSimpler}),
    simplifiedBy(arithmetic<ScalarFunction::Maximum>("maximum", "The larger of both.", tieDetails,
                                                     GradientRule{extremeGradient, maximumTies},
                                                     maximumExamples),
                 {simplifyExtreme, maximumSimpler}),
    simplifiedBy(arithmetic<ScalarFunction::Minimum>("minimum", "The smaller of both.", tieDetails,
                                                     GradientRule{extremeGradient, minimumTies},
                                                     minimumExamples),
                 {simplifyExtreme, minimumSimpler}),
    bitwise<ScalarFunction::LeftShift>("left_shift", "`lhs` times 2 to the power of `rhs`.",
                                       leftShiftExamples, "Bits shifted out are lost."),
    bitwise<ScalarFunction::RightShift>("right_shift",
                                        "`lhs` divided by 2 to the power of `rhs`, rounded down.",
                                        rightShiftExamples, "Signed integers keep their sign."),
    arithmetic<ScalarFunction::LogicalAnd>("logical_and", "Whether both are true.", truthDetails,
                                           truthValue, logicalAndExamples),
    arithmetic<ScalarFunction::LogicalOr>("logical_or", "Whether one is true at least.",
                                          truthDetails, truthValue, logicalOrExamples),
    arithmetic<ScalarFunction::LogicalXor>("logical_xor", "Whether exactly one is true.",
                                           truthDetails, truthValue, logicalXorExamples),
    bitwise<ScalarFunction::BitAnd>("bitwise_and", "The bits that both have.", bitwiseAndExamples),
    bitwise<ScalarFunction::BitOr>("bitwise_or", "The bits that one has at least.",
                                   bitwiseOrExamples),
    bitwise<ScalarFunction::BitXor>("bitwise_xor", "The bits that exactly one has.",
                                    bitwiseXorExamples),
    comparison<ScalarFunction::Equal>("equal", "Whether both are equal.", equalExamples, "=="),
    comparison<ScalarFunction::NotEqual>("not_equal", "Whether both differ.", notEqualExamples,
                                         "!="),
    comparison<ScalarFunction::Less>("less", "Whether `lhs` is less.", lessExamples, "<"),
    comparison<ScalarFunction::LessEqual>("less_equal", "Whether `lhs` is less or equal.",
                                          lessEqualExamples, "<="),
    comparison<ScalarFunction::Greater>("greater", "Whether `lhs` is greater.", greaterExamples,
                                        ">"),
    comparison<ScalarFunction::GreaterEqual>("greater_equal", "Whether `lhs` is greater or equal.",
                                             greaterEqualExamples, ">="),
    {.name = "where",
     .synonyms = "?: select masked_fill",
     .doc = "`x` where the condition is not zero, and `y` elsewhere.",
     .details = "All three operands are broadcast together.",
     .operands = whereOperands,
     .relation = whereRelation,
     .compute = computeWhere,
     .gradient = GradientRule{whereGradient},
     .simplify = {simplifyWhere, whereSimpler},
     .examples = whereExamples},
};

constexpr Synonyms synonyms[] = {{"add", "plus"},
                                 {"subtract", "sub minus"},
                                 {"multiply", "mul times"},
                                 {"divide", "div true_divide"},
                                 {"floor_divide", "floordiv"},
                                 {"trunc_divide", "truncdiv"},
                                 {"floor_mod", "% modulo remainder"},
                                 {"trunc_mod", "fmod rem"},
                                 {"power", "** pow float_power"},
                                 {"logical_and", "&&"},
                                 {"logical_or", "||"},
                                 {"bitwise_and", "&"},
                                 {"bitwise_or", "|"},
                                 {"bitwise_xor", "^"},
                                 {"left_shift", "<< shift_left bitwise_left_shift"},
                                 {"right_shift", ">> shift_right bitwise_right_shift"},
                                 {"equal", "eq"},
                                 {"not_equal", "ne"},
                                 {"less", "lt less_than"},
                                 {"less_equal", "le"},
                                 {"greater", "gt greater_than"},
                                 {"greater_equal", "ge"}};

constexpr auto namedRows = alsoCalled(rows, synonyms);

} // namespace

lang::OperatorFamily broadcastFamily() {
  return namedRows;
}

} // namespace stdlib
