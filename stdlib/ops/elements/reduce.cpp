// Reductions over axes.
//
// `axis=None` and `axis=[]` mean all axes; `exclude` turns the choice round and may leave no axis
// to reduce, which gives the data itself. Over no elements a reduction gives its identity.
#include "stdlib/ops/averages.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/products.h"
#include "stdlib/ops/shape_rules.h"
#include "stdlib/ops/simplify.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::Checked;
using runtime::DType;
using runtime::Problem;

/// Per dimension of a tensor of `rank` whether the attributes reduce it.
Checked<std::vector<bool>> reducedDims(const Attributes& attributes, size_t rank) {
  bool exclude = attributes.boolean("exclude");
  if (exclude && attributes.isNull("axis"))
    return Problem{"`exclude` needs `axis`"};
  std::vector<int64_t> axes = attributes.integers("axis");
  if (axes.empty())
    return std::vector<bool>(rank, true);
  std::vector<bool> reduced(rank, exclude);
  for (int64_t axis : axes) {
    int64_t normal = axis < 0 ? axis + int64_t(rank) : axis;
    if (normal < 0 || normal >= int64_t(rank))
      return Problem{axisProblem("axis", axis, rank)};
    if (reduced[size_t(normal)] != exclude)
      return Problem{fmt::format("axis {} is listed twice", axis)};
    reduced[size_t(normal)] = !exclude;
  }
  return reduced;
}

RelationResult reducedTo(const RelationCall& call, DType dtype) {
  auto reduced = reducedDims(call.attributes, call.rank(0));
  if (!reduced) {
    for (int64_t axis : call.attributes.integers("axis"))
      if (!call.normalAxis(axis, call.rank(0)))
        return axisFailure(call, "axis", axis);
    return call.failed(reduced.failure());
  }
  bool keepsDims = call.attributes.boolean("keepdims");
  std::vector<const Dim*> shape;
  for (size_t i = 0; i < call.rank(0); ++i)
    if (!(*reduced)[i])
      shape.push_back(call.shape(0)[i]);
    else if (keepsDims)
      shape.push_back(call.types.constant(1));
  return call.solved(shape, dtype);
}

RelationResult reduceRelation(const RelationCall& call) {
  return reducedTo(call, call.dtype(0));
}

RelationResult argReduceRelation(const RelationCall& call) {
  if (call.rank(0) == 0)
    return call.failedAt(0, "a tensor of rank 0 has no position to give");
  return reducedTo(call, countsIn64Bits(*call.operands[0]) ? runtime::Int64 : runtime::Int32);
}

RelationResult varianceRelation(const RelationCall& call) {
  if (auto problem = requireSameDType(call, 0, 1))
    return *problem;
  if (call.rank(0) == 0)
    return call.failedAt(0, "a tensor of rank 0 has no variance");
  if (call.rank(1) != call.rank(0) || !broadcastsTo(call, call.shape(1), call.shape(0)))
    return call.failedAt(1, fmt::format("the shape `{}` of `mean` does not fit that of the data, "
                                        "`{}`: it must have the same rank and broadcast to it",
                                        shapeText(call.shape(1)), shapeText(call.shape(0))));
  return reduceRelation(call);
}

/// A reduction under construction.
struct Reduction {
  ComputeCall& call;
  TensorHandle data;
  std::vector<bool> reduced;
  bool keepsDims;
  Extents extents;

  explicit Reduction(ComputeCall& computeCall)
      : call(computeCall), data(call.input(0)),
        reduced(*reducedDims(call.attributes(), data.rank())),
        keepsDims(call.attributes().boolean("keepdims")) {
    for (size_t i = 0; i < reduced.size(); ++i)
      if (reduced[i])
        extents.push_back(data.extent(i));
  }

  /// The position in the data for a position of the result and one in the reduced dimensions.
  Position join(const Position& outer, const Position& inner) const {
    Position position;
    size_t nextOuter = 0, nextInner = 0;
    for (bool isReduced : reduced) {
      position.push_back(isReduced ? inner[nextInner++] : outer[nextOuter]);
      nextOuter += !isReduced || keepsDims;
    }
    return position;
  }

  /// `body` over the data positions that belong to `outer`.
  Scalar over(Combiner combiner, const Position& outer, const ComputeCall::Body& body) const {
    if (extents.empty())
      return body(join(outer, {}));
    return call.reduce(combiner, extents,
                       [&](const Position& inner) { return body(join(outer, inner)); });
  }

  /// How many elements go into one of the result.
  Scalar count() const { return productOf(call.integer(0).arena(), extents); }
};

template <Combiner combiner>
void reduce(ComputeCall& call) {
  Reduction reduction(call);
  call.result([&](const Position& at) {
    return reduction.over(combiner, at, [&](const Position& p) { return reduction.data(p); });
  });
}

/// Truth values have no sum in their own type: whether one holds, as in Relay.
void computeSum(ComputeCall& call) {
  bool isTruth = call.outputDType() == runtime::Bool;
  return isTruth ? reduce<Combiner::Any>(call) : reduce<Combiner::Sum>(call);
}

template <Combiner combiner>
void reduceTruth(ComputeCall& call) {
  Reduction reduction(call);
  DType dtype = reduction.data.dtype();
  call.result([&](const Position& at) {
    Scalar truth = reduction.over(
        combiner, at, [&](const Position& p) { return cast(reduction.data(p), runtime::Bool); });
    return cast(truth, dtype);
  });
}

template <Combiner first, Combiner last>
void argReduce(ComputeCall& call) {
  Reduction reduction(call);
  Combiner combiner = call.attributes().boolean("select_last_index") ? last : first;
  call.result([&](const Position& at) {
    if (reduction.extents.empty())
      return call.number(call.outputDType(), 0);
    return call.reduce(
        combiner, reduction.extents,
        [&](const Position& inner) { return reduction.data(reduction.join(at, inner)); },
        call.outputDType());
  });
}

void computeMean(ComputeCall& call) {
  Reduction reduction(call);
  call.result([&](const Position& at) {
    Scalar sum = reduction.over(Combiner::Sum, at,
                                [&](const Position& p) { return widened(reduction.data(p)); });
    return average(sum, reduction.count(), reduction.data.dtype());
  });
}

void variance(ComputeCall& call) {
  Reduction reduction(call);
  TensorHandle centre = call.input(1);
  bool unbiased = call.attributes().boolean("unbiased");
  Scalar count = reduction.count() - (unbiased ? 1 : 0);
  call.result([&](const Position& at) {
    Scalar sum = reduction.over(Combiner::Sum, at, [&](const Position& p) {
      Scalar difference = widened(reduction.data(p)) -
                          widened(centre(broadcastTo(p, reduction.data.shape(), centre.shape())));
      return difference * difference;
    });
    return average(sum, count, reduction.data.dtype());
  });
}

/// What gradient rules of reductions share.
struct ReductionGradient {
  GradientCall& d;
  Term data;
  std::vector<size_t> axes;
  bool keepsDims;

  explicit ReductionGradient(GradientCall& call)
      : d(call), data(call.operand(0)), keepsDims(call.attributes().boolean("keepdims")) {
    std::vector<bool> reduced = *reducedDims(call.attributes(), data.rank());
    for (size_t i = 0; i < reduced.size(); ++i)
      if (reduced[i])
        axes.push_back(i);
  }

  /// A tensor in the shape of the result, with the reduced dimensions put back as 1.
  Term restored(Term term) const {
    if (keepsDims)
      return term;
    for (size_t first = 0, last = 0; first < axes.size(); first = last) {
      for (last = first + 1; last < axes.size() && axes[last] == axes[last - 1] + 1;)
        ++last;
      term = expandDims(term, axes[first], last - first);
    }
    return term;
  }

  Term count() const { return countOf(data, axes); }

  void giveData(const Term& term) const { give(d, 0, broadcastLike(term, data)); }
};

void sumGradient(GradientCall& d) {
  ReductionGradient over(d);
  over.giveData(over.restored(d.cotangent()));
}

void meanGradient(GradientCall& d) {
  ReductionGradient over(d);
  over.giveData(over.restored(d.cotangent() / over.count()));
}

void extremeGradient(GradientCall& d) {
  ReductionGradient over(d);
  Term isBest = castTo(over.data == over.restored(d.result()), over.data.dtype());
  over.giveData(over.restored(d.cotangent()) / sum(isBest, over.axes, true) * isBest);
}

/// The product of the other elements: over one dimension after the other, those of the others in
/// its line, where the elements are the products over the dimensions before.
void productGradient(GradientCall& d) {
  ReductionGradient over(d);
  Term products = over.data, share = over.restored(d.cotangent());
  for (size_t i = 0; i < over.axes.size(); ++i) {
    size_t axis = over.axes[i];
    share = share * productOfOthers(products, axis);
    if (i + 1 < over.axes.size())
      products = d.call("prod", {products}, {{"axis", axis}, {"keepdims", true}});
  }
  over.giveData(share);
}

void varianceGradient(GradientCall& d) {
  ReductionGradient over(d);
  Term count = over.count();
  if (d.attributes().boolean("unbiased"))
    count = count - 1;
  Term part = over.restored(d.cotangent() * 2 / count) * (over.data - d.operand(1));
  over.giveData(part);
  toBroadcast(d, 1, -part);
}

constexpr OperandRow dataOperand[] = {{"data", "the tensor to reduce"}};
constexpr OperandRow varianceOperands[] = {
    {"data", "the tensor to reduce"},
    {"mean", "its mean over the same axes, with the reduced dimensions kept"},
};
constexpr AttributeRow axisRow{"axis", AttributeKind::IntList, "None",
                               "the axes to reduce; all when it is None or empty", true};
constexpr AttributeRow keepdimsRow{"keepdims", AttributeKind::Bool, "False",
                                   "whether reduced dimensions stay, with extent 1"};
constexpr AttributeRow excludeRow{"exclude", AttributeKind::Bool, "False",
                                  "whether `axis` lists the axes that are kept instead"};
constexpr AttributeRow reduceAttributes[] = {axisRow, keepdimsRow, excludeRow};
constexpr AttributeRow argReduceAttributes[] = {
    axisRow, keepdimsRow,
    AttributeRow{"select_last_index", AttributeKind::Bool, "False",
                 "whether the last of equal values is taken"},
    excludeRow};
constexpr AttributeRow varianceAttributes[] = {
    axisRow, keepdimsRow, excludeRow,
    AttributeRow{"unbiased", AttributeKind::Bool, "False",
                 "whether to divide by one less than the number of elements"}};
constexpr OperatorRow reduction(std::string_view name, std::string_view doc,
                                std::string_view details, void (*compute)(ComputeCall&),
                                Gradient gradient, std::span<const Example> examples) {
  return {.name = name,
          .doc = doc,
          .details = details,
          .operands = dataOperand,
          .attributes = reduceAttributes,
          .attributesKey = "relay.attrs.ReduceAttrs",
          .relation = reduceRelation,
          .compute = compute,
          .gradient = gradient,
          .examples = examples};
}

template <Combiner first, Combiner last>
constexpr OperatorRow argReduction(std::string_view name, std::string_view doc,
                                   std::span<const Example> examples) {
  return {.name = name,
          .doc = doc,
          .details = "Over several axes it is the row-major position in them. The result is int32, "
                     "or int64 when an extent of the data is written with 64 bits.",
          .operands = dataOperand,
          .attributes = argReduceAttributes,
          .attributesKey = "relay.attrs.ArgReduceAttrs",
          .relation = argReduceRelation,
          .compute = argReduce<first, last>,
          .gradient = integerValued,
          .examples = examples};
}

constexpr Example sumExamples[] = {
    {"sum([[1f, 2f], [3f, 4f]], axis=[0])", "[4f, 6f]"},
    {"sum([[1, 2], [3, 4]])", "10"},
    {"sum([[True, True], [False, False]], axis=[1])", "[True, False]"}};
constexpr Example prodExamples[] = {{"prod([[1f, 2f], [3f, 4f]], axis=[1])", "[2f, 12f]"}};
constexpr Example maxExamples[] = {
    {"max([[1f, 5f], [3f, 4f]], axis=[-1], keepdims=True)", "[[5f], [4f]]"}};
constexpr Example minExamples[] = {
    {"min([[1f, 5f], [3f, 4f]], axis=[1], exclude=True)", "[1f, 4f]"}};
constexpr Example meanExamples[] = {{"mean([[1f, 2f], [3f, 5f]], axis=[1])", "[1.5f, 4f]"},
                                    {"mean([-1, -2])", "-1"}};
constexpr Example allExamples[] = {
    {"all([[True, False], [True, True]], axis=[1])", "[False, True]"}};
constexpr Example anyExamples[] = {
    {"any([[True, False], [False, False]], axis=[1])", "[True, False]"}};
constexpr Example argmaxExamples[] = {
    {"argmax([[1f, 5f, 5f], [3f, 2f, 1f]], axis=[1])", "[1, 0]"},
    {"argmax([[1f, 5f, 5f], [3f, 2f, 1f]], axis=[1], select_last_index=True)", "[2, 0]"}};
constexpr Example argminExamples[] = {{"argmin([[4f, 5f, 5f], [3f, 2f, 1f]])", "5"}};
constexpr Example varianceExamples[] = {
    {"variance([[1f, 3f], [2f, 8f]], [[2f], [5f]], axis=[1])", "[1f, 9f]"},
    {"variance([[1f, 3f], [2f, 8f]], [[2f], [5f]], axis=[1], unbiased=True)", "[2f, 18f]"}};
constexpr GradientExample maxTies[] = {{"max([1f, 2f, 2f])", "1f", "[0f, 0.5f, 0.5f]"}};
constexpr GradientExample minTies[] = {{"min([1f, 1f, 2f])", "1f", "[0.5f, 0.5f, 0f]"}};
constexpr GradientExample prodZeros[] = {
    {"prod([[0f, 3f], [0f, 0f]], axis=[1])", "[1f, 1f]", "[[3f, 0f], [0f, 0f]]"}};

/// Over dimensions of extent 1, or none, a reduction gives the data in another shape.
void simplifyReduction(SimplifyCall& s) {
  Term data = s.operand(0);
  std::vector<bool> reduced = *reducedDims(s.attributes(), data.rank());
  std::vector<size_t> axes;
  for (size_t i = 0; i < data.rank(); ++i)
    if (reduced[i]) {
      if (!data.dim(i)->isConstant(1))
        return;
      axes.push_back(i);
    }
  if (axes.empty() || s.attributes().boolean("keepdims"))
    s.becomesIfTyped(data);
  else
    s.becomesIfTyped(s.call("squeeze", {data}, {{"axis", axes}}));
}

void simplifySum(SimplifyCall& s) {
  if (!becomesZeros(s))
    simplifyReduction(s);
}

constexpr SimplifyExample sumSimpler[] = {{"sum(zeros_like(%x))", "0f"},
                                          {"sum(%x, axis=[0, 1], exclude=True)", "%x"},
                                          {"sum(expand_dims(%x, axis=1), axis=[1])", "%x"},
                                          {"sum([[[1f]]], axis=[1], keepdims=True)", "[[[1f]]]"}};
constexpr SimplifyExample prodSimpler[] = {{"prod(expand_dims(%n, axis=1), axis=[1])", "%n"}};
constexpr SimplifyExample maxSimpler[] = {{"max(expand_dims(%n, axis=1), axis=[1])", "%n"}};
constexpr SimplifyExample minSimpler[] = {{"min(expand_dims(%n, axis=1), axis=[1])", "%n"}};
constexpr SimplifyExample meanSimpler[] = {{"mean(expand_dims(%n, axis=1), axis=[1])", "%n"}};

constexpr OperatorRow rows[] = {
    simplifiedBy(reduction("sum", "The sum over axes.",
                           "Integers wrap. Of truth values it is `any`.", computeSum,
                           GradientRule{sumGradient}, sumExamples)
                     .meaning(NumbersMeant::Counts),
                 {simplifySum, sumSimpler}),
    simplifiedBy(reduction("prod", "The product over axes.", "Integers wrap.",
                           reduce<Combiner::Product>, GradientRule{productGradient, prodZeros},
                           prodExamples),
                 {simplifyReduction, prodSimpler}),
    simplifiedBy(reduction("max", "The largest element over axes.",
                           "Equal largest elements share the gradient equally.",
                           reduce<Combiner::Maximum>, GradientRule{extremeGradient, maxTies},
                           maxExamples),
                 {simplifyReduction, maxSimpler}),
    simplifiedBy(reduction("min", "The smallest element over axes.",
                           "Equal smallest elements share the gradient equally.",
                           reduce<Combiner::Minimum>, GradientRule{extremeGradient, minTies},
                           minExamples),
                 {simplifyReduction, minSimpler}),
    simplifiedBy(
        reduction(
            "mean", "The mean over axes.",
            "The sum in the type of the data, divided by the number of elements in that type; "
            "integers truncate toward zero.",
            computeMean, GradientRule{meanGradient}, meanExamples)
            .meaning(NumbersMeant::Reals),
        {simplifyReduction, meanSimpler}),
    reduction("all", "Whether all elements over axes are true.",
              "Non-zero is true; the result has the type of the data, 0 or 1.",
              reduceTruth<Combiner::All>, truthValue, allExamples),
    reduction("any", "Whether an element over axes is true.",
              "Non-zero is true; the result has the type of the data, 0 or 1.",
              reduceTruth<Combiner::Any>, truthValue, anyExamples),
    argReduction<Combiner::ArgMaximum, Combiner::ArgMaximumLast>(
        "argmax", "The position of the largest element over axes.", argmaxExamples),
    argReduction<Combiner::ArgMinimum, Combiner::ArgMinimumLast>(
        "argmin", "The position of the smallest element over axes.", argminExamples),
    {.name = "variance",
     .synonyms = "var",
     .doc = "The mean of squared differences from a given mean.",
     .operands = varianceOperands,
     .attributes = varianceAttributes,
     .attributesKey = "relay.attrs.VarianceAttrs",
     .relation = varianceRelation,
     .compute = variance,
     .gradient = GradientRule{varianceGradient},
     .examples = varianceExamples,
     .numbersMeant = NumbersMeant::Reals},
};

constexpr Synonyms synonyms[] = {{"sum", "reduce_sum"},
                                 {"prod", "product reduce_prod"},
                                 {"max", "amax reduce_max"},
                                 {"min", "amin reduce_min"},
                                 {"mean", "average reduce_mean"}};

constexpr auto namedRows = alsoCalled(rows, synonyms);

} // namespace

lang::OperatorFamily reduceFamily() {
  return namedRows;
}

} // namespace stdlib
