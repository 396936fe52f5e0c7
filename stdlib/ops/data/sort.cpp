// Operators that sort: sort, argsort, topk, searchsorted, unique.
//
// Sorting is stable in both directions, so equal elements keep their order; NaN counts as larger
// than every number.
#include "stdlib/ops/data/sort.h"

#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shape_rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace stdlib {

namespace {

using namespace lang;
using runtime::DType;

/// The problem of an axis outside the data, or of an unusable type of indices.
std::optional<RelationResult> requireAxisAndIndexType(const RelationCall& call) {
  int64_t axis = call.attributes.integer("axis");
  if (!call.normalAxis(axis, call.rank(0)))
    return axisFailure(call, "axis", axis);
  DType dtype = call.attributes.dtype("dtype").value_or(runtime::Int32);
  if (!dtype.isComputable() || dtype.isBool())
    return call.failed(words("`dtype` is `{}`, which cannot hold positions", dtype));
  return std::nullopt;
}

RelationResult sortRelation(const RelationCall& call) {
  if (auto problem = requireAxisAndIndexType(call))
    return *problem;
  return sameAsFirst(call);
}

RelationResult argsortRelation(const RelationCall& call) {
  if (auto problem = requireAxisAndIndexType(call))
    return *problem;
  return call.solved(call.shape(0), call.attributes.dtype("dtype").value_or(runtime::Int32));
}

RelationResult topkRelation(const RelationCall& call) {
  bool keepsAll = call.attributes.isNull("k") || call.attributes.integer("k") < 1;
  return topkResult(call, keepsAll ? nullptr : call.types.constant(call.attributes.integer("k")));
}

RelationResult searchSortedRelation(const RelationCall& call) {
  if (auto problem = requireSameDType(call, 0, 1))
    return *problem;
  Dims sorted = call.shape(0), values = call.shape(1);
  bool good = sorted.size() == 1 || (!sorted.empty() && sorted.size() == values.size());
  for (size_t i = 0; good && i + 1 < sorted.size(); ++i)
    good = call.meetDims(sorted[i], values[i]);
  if (!good)
    return call.failed(
        fmt::format("the sorted sequence must be a vector or agree with the values in "
                    "all dimensions but the last, but their shapes are `{}` and `{}`",
                    shapeText(sorted), shapeText(values)));
  DType dtype = call.attributes.dtype("dtype").value_or(runtime::Int32);
  if (dtype != runtime::Int32 && dtype != runtime::Int64)
    return call.failed(words("`dtype` is `{}`, but it must be `{}` or `{}`", dtype, runtime::Int32,
                             runtime::Int64));
  return call.solved(values, dtype);
}

RelationResult uniqueRelation(const RelationCall& call) {
  if (call.rank(0) != 1)
    return call.failedAt(0, fmt::format("the data must be a vector, but its shape is `{}`",
                                        shapeText(call.shape(0))));
  const Type* positions = call.types.tensor(call.shape(0), runtime::Int32);
  std::vector<const Type*> fields{call.operands[0], positions, positions,
                                  call.types.tensor({call.types.constant(1)}, runtime::Int32)};
  if (call.attributes.boolean("return_counts"))
    fields.push_back(positions);
  return call.solved(call.types.tuple(fields));
}

size_t normalAxisOf(const Attributes& attributes, Types operands) {
  int64_t axis = attributes.integer("axis");
  return size_t(axis < 0 ? axis + int64_t(operands[0]->shape.size()) : axis);
}

natives::SortParameters decodeSort(const Attributes& attributes, Types operands) {
  return {normalAxisOf(attributes, operands), attributes.boolean("is_ascend"),
          attributes.dtype("dtype").value_or(runtime::Int32)};
}

natives::SearchParameters decodeSearch(const Attributes& attributes, Types) {
  return {attributes.boolean("right"), attributes.dtype("dtype").value_or(runtime::Int32)};
}

natives::UniqueParameters decodeUnique(const Attributes& attributes, Types) {
  return {attributes.boolean("sorted"), attributes.boolean("return_counts")};
}

constexpr OperandRow data[] = {{"data", "the input"}};
constexpr OperandRow searchOperands[] = {
    {"sorted_sequence", "sequences in ascending order along the last dimension"},
    {"values", "the values to find a place for"}};

constexpr AttributeRow sortAttributes[] = {
    {"axis", AttributeKind::Int, "-1", "the dimension to sort along"},
    {"is_ascend", AttributeKind::Bool, "True", "the smallest first"},
    {"dtype", AttributeKind::DType, "\"\"", "the element type of positions; int32 when unset"}};
constexpr AttributeRow topkAttributes[] = {
    {"k", AttributeKind::Int, "", "how many to keep; all if below 1", true},
    {"axis", AttributeKind::Int, "-1", "the dimension to sort along"},
    {"ret_type", AttributeKind::String, "\"both\"", "what to return: both, values or indices"},
    {"is_ascend", AttributeKind::Bool, "False", "the smallest first"},
    {"dtype", AttributeKind::DType, "\"\"", "the element type of positions; int32 when unset"}};
constexpr AttributeRow searchAttributes[] = {
    {"right", AttributeKind::Bool, "False", "the place behind equal elements, not before them"},
    {"dtype", AttributeKind::DType, "\"int32\"", "the element type of the result"}};
constexpr AttributeRow uniqueAttributes[] = {
    {"sorted", AttributeKind::Bool, "True", "in ascending order, not in that of occurrence"},
    {"return_counts", AttributeKind::Bool, "False", "count each value, too"}};

constexpr Example sortExamples[] = {
    {"sort([3f, 1f, 2f])", "[1f, 2f, 3f]"},
    {"sort([[3, 1], [2, 4]], axis=0, is_ascend=False)", "[[3, 4], [2, 1]]"}};
constexpr Example argsortExamples[] = {{"argsort([3f, 1f, 2f])", "[1, 2, 0]"},
                                       {"argsort([1f, 2f, 1f], is_ascend=False)", "[1, 0, 2]"}};
constexpr Example topkExamples[] = {
    {"topk([3f, 1f, 4f, 2f], k=2)", "([4f, 3f], [2, 0])"},
    {"topk([[3, 1, 2]], k=1, ret_type=\"values\", is_ascend=True)", "[[1]]"}};
constexpr Example searchExamples[] = {
    {"searchsorted([1f, 2f, 2f, 3f], [2f, 5f])", "[1, 4]"},
    {"searchsorted([1f, 2f, 2f, 3f], [2f, 5f], right=True)", "[3, 4]"}};
constexpr Example uniqueExamples[] = {
    {"unique([3f, 1f, 3f], attrs_type_key=\"relay.attrs.UniqueAttrs\")",
     "([1f, 3f, 0f], [1, 0, 0], [1, 0, 1], [2])"},
    {"unique([3, 1, 3], sorted=False, return_counts=True, "
     "attrs_type_key=\"relay.attrs.UniqueAttrs\")",
     "([3, 1, 0], [0, 1, 0], [0, 1, 0], [2], [2, 1, 0])"}};

void sortGradient(GradientCall& d) {
  Term x = d.operand(0);
  Term order = d.call("argsort", {x},
                      {{"axis", d.attributes().get("axis")},
                       {"is_ascend", d.attributes().get("is_ascend")},
                       {"dtype", "int64"}});
  give(d, 0,
       d.call("scatter_elements", {zerosLike(x), order, d.cotangent()},
              {{"axis", d.attributes().get("axis")}}));
}

/// The cotangent of a first result goes to the elements that its entries were.
void uniqueGradient(GradientCall& d) {
  if (!d.hasCotangent(0))
    return;
  Term first = d.result(1);
  Term places = runningSum(onesLike(first), 0, true);
  Term used = maskedBy(places < d.result(3), d.cotangent(0));
  give(d, 0,
       d.call("scatter_elements", {zerosLike(d.operand(0)), first, used}, {{"reduction", "add"}}));
}

constexpr OperatorRow rows[] = {
    {.name = "sort",
     .doc = "Sorts along a dimension.",
     .operands = data,
     .attributes = sortAttributes,
     .attributesKey = "relay.attrs.ArgsortAttrs",
     .relation = sortRelation,
     .native = ordering(nativeOf<natives::sortLines, decodeSort>()),
     .gradient = GradientRule{sortGradient},
     .examples = sortExamples},
    {.name = "argsort",
     .doc = "Gives the positions of the elements in sorted order along a dimension.",
     .operands = data,
     .attributes = sortAttributes,
     .attributesKey = "relay.attrs.ArgsortAttrs",
     .relation = argsortRelation,
     .native = ordering(nativeOf<natives::orderOfLines, decodeSort>()),
     .gradient = NoGradient{"the result holds positions", true},
     .examples = argsortExamples},
    {.name = "topk",
     .doc = "Gives the largest or smallest elements along a dimension, in order.",
     .operands = data,
     .attributes = topkAttributes,
     .attributesKey = "relay.attrs.TopkAttrs",
     .relation = topkRelation,
     .native = ordering(nativeOf<natives::firstOfLines, decodeTopk>()),
     .gradient = GradientRule{topkGradient},
     .examples = topkExamples},
    {.name = "searchsorted",
     .doc = "Finds where values would be inserted into sorted sequences.",
     .operands = searchOperands,
     .attributes = searchAttributes,
     .attributesKey = "relay.attrs.SearchSortedAttrs",
     .relation = searchSortedRelation,
     .native = ordering(nativeOf<natives::searchLines, decodeSearch>()),
     .gradient = NoGradient{"the result holds positions", true},
     .examples = searchExamples},
    {.name = "unique",
     .doc = "Gives the distinct elements of a vector and where they stand.",
     .details =
         "The result holds the distinct values, the first position of each, the number of the "
         "value that each element has, and how many values there are. All but the last are as "
         "long as the data and filled up with zeros.",
     .operands = data,
     .attributes = uniqueAttributes,
     .attributesKey = "relay.attrs.UniqueAttrs",
     .relation = uniqueRelation,
     .native = ordering(nativeOf<natives::distinctElements, decodeUnique>()),
     .gradient = GradientRule{uniqueGradient},
     .examples = uniqueExamples,
     .unregisteredAttributes = true},
};

} // namespace

RelationResult topkResult(const RelationCall& call, const Dim* k) {
  if (auto problem = requireAxisAndIndexType(call))
    return *problem;
  size_t axis = *call.normalAxis(call.attributes.integer("axis"), call.rank(0));
  const Dim* extent = call.shape(0)[axis];
  if (k && k->isConstant() && extent->isConstant() && k->value > extent->value)
    return call.failed(
        fmt::format("`k` is {}, but the shape `{}` has only {} elements along axis {}", k->value,
                    shapeText(call.shape(0)), extent->value, axis));
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  if (k)
    shape[axis] = k;
  const Type* values = call.types.tensor(Dims(shape), call.dtype(0));
  const Type* indices =
      call.types.tensor(Dims(shape), call.attributes.dtype("dtype").value_or(runtime::Int32));
  std::string_view wanted = call.attributes.text("ret_type");
  if (!isOneOf(wanted, {"values", "indices", "both"}))
    return choiceFailure(call, "ret_type", "`both`, `values` or `indices`");
  const Type* fields[] = {values, indices};
  const Type* both = call.types.tuple(fields);
  RelationResult result = call.solved(wanted == "values"    ? values
                                      : wanted == "indices" ? indices
                                                            : both);
  if (k)
    requireAtLeast(result, call.types.subtract(extent, k), 0);
  return result;
}

natives::TopkParameters decodeTopk(const Attributes& attributes, Types operands) {
  std::string_view wanted = attributes.text("ret_type");
  const AttributeValue& k = attributes.get("k");
  return {normalAxisOf(attributes, operands),
          k.kind == AttributeValueKind::Int ? k.integer : 0,
          attributes.boolean("is_ascend"),
          wanted != "indices",
          wanted != "values",
          attributes.dtype("dtype").value_or(runtime::Int32)};
}

OperatorFamily sortFamily() {
  return rows;
}

void topkGradient(GradientCall& d) {
  std::string_view wanted = d.attributes().text("ret_type");
  Term x = d.operand(0);
  if (wanted == "indices" || !d.hasCotangent(0))
    return;
  auto indices = [&] {
    if (wanted == "both")
      return castTo(d.result(1), runtime::Int64);
    std::vector<lang::Setting> settings = sameAttributes(d);
    settings.emplace_back("ret_type", "indices");
    settings.emplace_back("dtype", "int64");
    return d.operandCount() == 2 ? d.call("dyn.topk", {x, d.operand(1)}, settings)
                                 : d.call("topk", {x}, settings);
  };
  give(d, 0,
       d.call("scatter_elements", {zerosLike(x), indices(), d.cotangent(0)},
              {{"axis", d.attributes().get("axis")}}));
}

} // namespace stdlib
