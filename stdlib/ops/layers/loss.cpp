// Losses over class probabilities: cross entropy in two forms, negative log likelihood.
//
// nll_loss takes log-probabilities with the classes along dimension 1 (dimension 0 when there is no
// batch) and a class number per position; a class number outside the range is a fault at run time
// unless it is the ignored one.
#include "stdlib/ops/averages.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/gradient.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

RelationResult crossEntropyRelation(const RelationCall& call) {
  for (size_t i = 0; i < 2; ++i)
    if (call.rank(i) != 2)
      return call.failedAt(i, fmt::format("`{}` must have a row for each sample and a column for "
                                          "each class, but its shape is `{}`",
                                          i == 0 ? "x" : "y", shapeText(call.shape(i))));
  if (auto problem = requireSameDType(call, 0, 1))
    return *problem;
  for (size_t i = 0; i < 2; ++i)
    if (call.differ(call.shape(0)[i], call.shape(1)[i]))
      return call.failedOn({{1, i}, {0, i}},
                           fmt::format("the {} differ: {} of `x` and {} of `y`",
                                       i == 0 ? "samples" : "classes", dimText(call.shape(0)[i]),
                                       dimText(call.shape(1)[i])));
  return call.solved(call.types.scalar(call.dtype(0)));
}

/// Class numbers as rows.
Fix fixCrossEntropy(const RelationCall& call) {
  if (call.rank(0) != 2 || call.rank(1) != 1 || !call.dtype(1).isInteger() ||
      !call.shape(0)[1]->isConstant() || call.dtype(0) != runtime::Float32)
    return std::nullopt;
  const Dim* shape[] = {call.shape(1)[0], call.shape(0)[1]};
  Trial trial(call);
  trial.operand(1, call.types.tensor(Dims(shape), call.dtype(0)));
  if (!trial.holds(crossEntropyRelation))
    return std::nullopt;
  return wrapFix("turn class numbers into rows: {}", 1, "one_hot(",
                 words(", 1f, 0f, depth={}, dtype={})", call.shape(0)[1]->value,
                       runtime::dtypeValue(runtime::Float32)));
}

/// The problem with the operand types of nll_loss, or nothing.
std::optional<RelationResult> nllProblem(const RelationCall& call) {
  if (!call.dtype(0).isFloat())
    return call.failedAt(
        0, words("`predictions` must be floating point, but it is `{}`", call.operands[0]));
  if (auto problem = requireSameDType(call, 0, 2))
    return problem;
  if (!call.dtype(1).isInteger())
    return call.failedAt(1, words("`targets` must be integers, but it is `{}`", call.operands[1]));
  if (call.rank(0) == 0 || call.rank(0) != call.rank(1) + 1)
    return call.failedAt(1, fmt::format("`targets` must have one dimension less than "
                                        "`predictions`, but the shapes are `{}` and `{}`",
                                        shapeText(call.shape(1)), shapeText(call.shape(0))));
  size_t classes = call.rank(0) == 1 ? 0 : 1;
  if (call.rank(2) != 1)
    return call.failedAt(2, fmt::format("`weights` must be a vector of {} elements, one per class, "
                                        "but its shape is `{}`",
                                        dimText(call.shape(0)[classes]), shapeText(call.shape(2))));
  if (call.differ(call.shape(0)[classes], call.shape(2)[0]))
    return call.failedOn({{2, 0}, {0, classes}},
                         fmt::format("`weights` has {} elements, but `predictions` has {} classes",
                                     dimText(call.shape(2)[0]), dimText(call.shape(0)[classes])));
  for (size_t i = 0; i < call.rank(1); ++i)
    if (call.differ(call.shape(0)[i == 0 ? 0 : i + 1], call.shape(1)[i]))
      return call.failedOn({{1, i}, {0, i == 0 ? 0 : i + 1}},
                           fmt::format("the shapes of `predictions` and `targets` must agree but "
                                       "for the classes, but they are `{}` and `{}`",
                                       shapeText(call.shape(0)), shapeText(call.shape(1))));
  return std::nullopt;
}

RelationResult nllLossRelation(const RelationCall& call) {
  if (auto problem = nllProblem(call))
    return *problem;
  std::string_view reduction = call.attributes.text("reduction");
  if (!isOneOf(reduction, {"none", "mean", "sum"}))
    return choiceFailure(call, "reduction", "`none`, `mean` or `sum`");
  if (reduction != "none")
    return call.solved(call.types.scalar(call.dtype(0)));
  std::vector<const Dim*> shape(call.shape(1).begin(), call.shape(1).end());
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] = call.meetDims(shape[i], call.shape(0)[i == 0 ? 0 : i + 1]);
  return call.solved(shape, call.dtype(0));
}

/// Minus the sum of `left * y` over everything, divided by the number of rows.
void meanOfProducts(ComputeCall& call, bool takesLogarithm) {
  TensorHandle x = call.input(0), y = call.input(1);
  call.result([&](const Position&) {
    Scalar sum = call.sumOver(x.shape(), [&](const Position& at) {
      return widened(takesLogarithm ? log(x(at)) : x(at)) * widened(y(at));
    });
    return average(-sum, x.extent(0), x.dtype());
  });
}

void computeCrossEntropy(ComputeCall& call) {
  meanOfProducts(call, true);
}

void computeCrossEntropyWithLogits(ComputeCall& call) {
  meanOfProducts(call, false);
}

void computeNllLoss(ComputeCall& call) {
  TensorHandle predictions = call.input(0), targets = call.input(1), weights = call.input(2);
  Scalar ignored = call.integer(call.attributes().integer("ignore_index"));
  Scalar zero = call.number(predictions.dtype(), 0);
  std::string_view reduction = call.attributes().text("reduction");
  size_t classes = predictions.rank() == 1 ? 0 : 1;
  auto loss = [&](const Position& at) {
    Scalar target = cast(targets(at), runtime::Int64);
    Scalar value = -predictions(insertAt(at, classes, target)) * weights({target});
    return select(target == ignored, zero, value);
  };
  auto weight = [&](const Position& at) {
    Scalar target = cast(targets(at), runtime::Int64);
    return select(target == ignored, zero, weights({target}));
  };
  if (reduction == "none")
    return call.result(loss);
  call.result([&](const Position&) {
    Scalar sum =
        call.sumOver(targets.shape(), [&](const Position& at) { return widened(loss(at)); });
    if (reduction == "sum")
      return cast(sum, predictions.dtype());
    Scalar total =
        call.sumOver(targets.shape(), [&](const Position& at) { return widened(weight(at)); });
    return average(sum, total, predictions.dtype());
  });
}

constexpr OperandRow probabilities[] = {{"x", "the predicted probabilities, one row per sample"},
                                        {"y", "the true probabilities"}};
constexpr OperandRow logits[] = {{"x", "the logarithms of the predicted probabilities"},
                                 {"y", "the true probabilities"}};
constexpr OperandRow nllOperands[] = {
    {"predictions", "log-probabilities, the classes along dimension 1"},
    {"targets", "the true class of each position"},
    {"weights", "the weight of each class"}};
constexpr AttributeRow nllAttributes[] = {
    {"reduction", AttributeKind::String, "\"mean\"", "`none`, `mean` or `sum`"},
    {"ignore_index", AttributeKind::Int, "", "the class whose positions do not count"}};

constexpr Example crossEntropyExamples[] = {
    {"nn.cross_entropy([[0.5f, 0.25f], [0.5f, 1f]], [[1f, 0f], [0f, 1f]])", "0.34657359f"}};
constexpr Example logitsExamples[] = {
    {"nn.cross_entropy_with_logits([[-1f, -2f], [-3f, -4f]], [[1f, 0f], [0f, 1f]])", "2.5f"}};
constexpr Example nllExamples[] = {
    {"nn.nll_loss([[-1f, -2f], [-3f, -4f]], [1, 0], [1f, 3f], ignore_index=-100)", "2.25f"},
    {"nn.nll_loss([[-1f, -2f], [-3f, -4f]], [1, 0], [1f, 3f], reduction=\"none\", "
     "ignore_index=0)",
     "[6f, 0f]"}};

/// Minus the mean over the samples, which lie along dimension 0, of `first * second` summed.
void crossEntropyGradient(GradientCall& d, const Term& byX, const Term& byY) {
  Term share = -(d.cotangent() / countOf(d.operand(0), {0}));
  give(d, 0, share * byX);
  give(d, 1, share * byY);
}

/// `hot` is one where a position has its class, and zero elsewhere; all else is sums of it.
void nllLossGradient(GradientCall& d) {
  const Attributes& attributes = d.attributes();
  Term predictions = d.operand(0), weights = d.operand(2);
  size_t rank = predictions.rank(), classes = rank == 1 ? 0 : 1;
  std::string_view reduction = attributes.text("reduction");
  Term targets = expandDims(castTo(d.operand(1), runtime::Int64), classes);
  Term numbers = runningSum(castTo(onesLike(weights), runtime::Int64), 0, true);
  Term isClass = targets == alongAxis(numbers, classes, rank);
  Term isIgnored = targets == double(attributes.integer("ignore_index"));
  Term counts = d.call("logical_and", {isClass, d.call("logical_not", {isIgnored})});
  Term hot = castTo(counts, predictions.dtype());
  Term weighted = hot * alongAxis(weights, classes, rank);
  Term grow = reduction == "none" ? expandDims(d.cotangent(), classes) : d.cotangent();
  Term excess = predictions;
  if (reduction == "mean") {
    grow = grow / sumOfAll(weighted);
    excess = predictions + d.result();
  }
  give(d, 0, -(weighted * grow));
  give(d, 2, -summedExcept(hot * excess * grow, classes));
}

constexpr OperatorRow rows[] = {
    {.name = "nn.cross_entropy",
     .doc = "The mean over samples of minus the sum of `log(x) * y`.",
     .operands = probabilities,
     .relation = withFix<crossEntropyRelation, fixCrossEntropy>,
     .compute = computeCrossEntropy,
     .gradient = GradientRule{[](GradientCall& d) {
       crossEntropyGradient(d, d.operand(1) / d.operand(0), log(d.operand(0)));
     }},
     .examples = crossEntropyExamples,
     .numbersMeant = NumbersMeant::Reals},
    {.name = "nn.cross_entropy_with_logits",
     .doc = "The mean over samples of minus the sum of `x * y`.",
     .details = "`x` holds log-probabilities, as `nn.log_softmax` gives them.",
     .operands = logits,
     .relation = withFix<crossEntropyRelation, fixCrossEntropy>,
     .compute = computeCrossEntropyWithLogits,
     .gradient =
         GradientRule{[](GradientCall& d) { crossEntropyGradient(d, d.operand(1), d.operand(0)); }},
     .examples = logitsExamples},
    {.name = "nn.nll_loss",
     .doc = "Minus the weighted prediction of the true class.",
     .details = "`mean` divides the sum by the sum of the weights of the classes that occur.",
     .operands = nllOperands,
     .attributes = nllAttributes,
     .attributesKey = "relay.attrs.NLLLossAttrs",
     .relation = nllLossRelation,
     .compute = computeNllLoss,
     .gradient = GradientRule{nllLossGradient},
     .examples = nllExamples},
};

} // namespace

OperatorFamily lossFamily() {
  return rows;
}

} // namespace stdlib
