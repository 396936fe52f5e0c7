// Operators that sort: sort, argsort, topk, searchsorted, unique.
//
// Sorting is stable in both directions, so equal elements keep their order; NaN counts as larger
// than every number.
#include "stdlib/ops/sort.h"

#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/element_types.h"
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
using runtime::KernelCall;
using runtime::KernelFault;
using runtime::KernelFaultCode;
using runtime::Tensor;

/// A tensor as lines along an axis: element i of a line is `inner` elements after element i - 1.
struct Lines {
  size_t outer = 1, extent = 1, inner = 1;

  size_t count() const { return outer * inner; }
  /// The place of element `i` of line `line` when lines have `length` elements.
  size_t place(size_t line, size_t i, size_t length) const {
    return (line / inner * length + i) * inner + line % inner;
  }
};

/// The lines of a tensor that has elements; of an empty one, none.
Lines linesOf(const Tensor& tensor, size_t along) {
  Lines lines;
  lines.extent = size_t(tensor.shape()[along]);
  if (tensor.size() == 0)
    lines.outer = 0;
  for (size_t i = 0; i < tensor.rank() && tensor.size() > 0; ++i)
    if (i != along)
      (i < along ? lines.outer : lines.inner) *= size_t(tensor.shape()[i]);
  return lines;
}

/// The stable permutation that sorts `keys`.
template <typename W>
std::vector<size_t> sortingOrder(const std::vector<W>& keys, bool ascending) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::stable_sort(order, [&](size_t left, size_t right) {
    return ascending ? comesBefore(keys[left], keys[right]) : comesBefore(keys[right], keys[left]);
  });
  return order;
}

/// Calls `visit(line, order)` with the sorting order of each line.
template <typename Visit>
bool visitOrders(const Tensor& tensor, const Lines& lines, bool ascending, Visit&& visit) {
  return visitElementType(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto elements = tensor.elements<T>();
    std::vector<Wide<T>> keys(lines.extent);
    for (size_t line = 0; line < lines.count(); ++line) {
      for (size_t i = 0; i < keys.size(); ++i)
        keys[i] = wide(elements[lines.place(line, i, lines.extent)]);
      visit(line, sortingOrder(keys, ascending));
    }
  });
}

/// Writes a position as an element of any type.
void writeIndex(Tensor& tensor, size_t place, size_t index) {
  visitElementType(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    tensor.elements<T>()[place] = T(Wide<T>(index));
  });
}

void copyElement(Tensor& to, size_t toPlace, const Tensor& from, size_t fromPlace) {
  size_t size = from.dtype().bytes();
  std::memcpy(to.bytes() + toPlace * size, from.bytes() + fromPlace * size, size);
}

/// Nothing, or the fault of an element type that was not visited.
KernelFault faultUnless(bool isKnown) {
  return {isKnown ? KernelFaultCode::None : KernelFaultCode::ElementType};
}

/// The problem of an axis outside the data, or of an unusable type of indices.
std::optional<RelationResult> requireAxisAndIndexType(const RelationCall& call) {
  int64_t axis = call.attributes.integer("axis");
  if (!call.normalAxis(axis, call.rank(0)))
    return axisFailure(call, "axis", axis);
  DType dtype = call.attributes.dtype("dtype").value_or(runtime::Int32);
  if (!dtype.isComputable() || dtype.isBool())
    return call.failed(
        fmt::format("`dtype` is `{}`, which cannot hold positions", runtime::dtypeName(dtype)));
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
    return call.failed(fmt::format("`dtype` is `{}`, but it must be `int32` or `int64`",
                                   runtime::dtypeName(dtype)));
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

/// What sorting along an axis needs to know.
struct SortParameters {
  size_t axis;
  bool isAscending;
  DType dtype;
};

size_t normalAxisOf(const Attributes& attributes, Types operands) {
  int64_t axis = attributes.integer("axis");
  return size_t(axis < 0 ? axis + int64_t(operands[0]->shape.size()) : axis);
}

SortParameters decodeSort(const Attributes& attributes, Types operands) {
  return {normalAxisOf(attributes, operands), attributes.boolean("is_ascend"),
          attributes.dtype("dtype").value_or(runtime::Int32)};
}

KernelFault runSort(const KernelCall& call, const SortParameters& parameters) {
  const Tensor& data = call.inputs[0];
  Tensor& result = call.outputs.emplace_back(data.dtype(), data.shape());
  Lines lines = linesOf(data, parameters.axis);
  return faultUnless(visitOrders(data, lines, parameters.isAscending,
                                 [&](size_t line, const std::vector<size_t>& order) {
                                   for (size_t i = 0; i < order.size(); ++i)
                                     copyElement(result, lines.place(line, i, lines.extent), data,
                                                 lines.place(line, order[i], lines.extent));
                                 }));
}

KernelFault runArgsort(const KernelCall& call, const SortParameters& parameters) {
  const Tensor& data = call.inputs[0];
  Tensor& result = call.outputs.emplace_back(parameters.dtype, data.shape());
  Lines lines = linesOf(data, parameters.axis);
  return faultUnless(visitOrders(
      data, lines, parameters.isAscending, [&](size_t line, const std::vector<size_t>& order) {
        for (size_t i = 0; i < order.size(); ++i)
          writeIndex(result, lines.place(line, i, lines.extent), order[i]);
      }));
}

KernelFault runTopk(const KernelCall& call, const TopkParameters& parameters) {
  return topkOf(call, parameters, parameters.k);
}

template <typename T>
void searchLines(const Tensor& sorted, const Tensor& values, bool right, Tensor& result) {
  size_t length = size_t(sorted.shape().back());
  size_t perLine = sorted.rank() == 1 ? size_t(values.size()) : size_t(values.shape().back());
  auto sequence = sorted.elements<T>();
  auto wanted = values.elements<T>();
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto line = sequence.subspan(i / perLine * length, length);
    auto value = wide(wanted[i]);
    auto at = right ? std::partition_point(line.begin(), line.end(),
                                           [&](T x) { return !comesBefore(value, wide(x)); })
                    : std::partition_point(line.begin(), line.end(),
                                           [&](T x) { return comesBefore(wide(x), value); });
    writeIndex(result, i, size_t(at - line.begin()));
  }
}

struct SearchParameters {
  bool isRight;
  DType dtype;
};

SearchParameters decodeSearch(const Attributes& attributes, Types) {
  return {attributes.boolean("right"), attributes.dtype("dtype").value_or(runtime::Int32)};
}

KernelFault runSearchSorted(const KernelCall& call, const SearchParameters& parameters) {
  const Tensor &sorted = call.inputs[0], &values = call.inputs[1];
  Tensor& result = call.outputs.emplace_back(parameters.dtype, values.shape());
  if (values.size() == 0)
    return {};
  return faultUnless(visitElementType(sorted.dtype(), [&](auto zero) {
    searchLines<decltype(zero)>(sorted, values, parameters.isRight, result);
  }));
}

/// The groups of equal elements: their first positions, in the wanted order, and the group of each
/// element.
struct Groups {
  std::vector<size_t> first;
  std::vector<size_t> groupOf;
};

template <typename W>
Groups groupsOf(const std::vector<W>& keys, bool sorted) {
  Groups groups;
  groups.groupOf.resize(keys.size());
  std::vector<size_t> order = sortingOrder(keys, true);
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || comesBefore(keys[order[i - 1]], keys[order[i]]))
      groups.first.push_back(order[i]);
    groups.groupOf[order[i]] = groups.first.size() - 1;
  }
  if (sorted)
    return groups;
  std::vector<size_t> byFirst(groups.first.size()), rank(groups.first.size());
  std::iota(byFirst.begin(), byFirst.end(), size_t(0));
  std::ranges::sort(byFirst, {}, [&](size_t group) { return groups.first[group]; });
  for (size_t i = 0; i < byFirst.size(); ++i)
    rank[byFirst[i]] = i;
  for (size_t& group : groups.groupOf)
    group = rank[group];
  std::ranges::sort(groups.first);
  return groups;
}

struct UniqueParameters {
  bool isSorted, wantsCounts;
};

UniqueParameters decodeUnique(const Attributes& attributes, Types) {
  return {attributes.boolean("sorted"), attributes.boolean("return_counts")};
}

KernelFault runUnique(const KernelCall& call, const UniqueParameters& parameters) {
  const Tensor& data = call.inputs[0];
  Groups groups;
  bool isKnown = visitElementType(data.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<Wide<T>> keys;
    for (T element : data.elements<T>())
      keys.push_back(wide(element));
    groups = groupsOf(keys, parameters.isSorted);
  });
  Tensor values(data.dtype(), data.shape()), first(runtime::Int32, data.shape());
  Tensor inverse(runtime::Int32, data.shape()), counts(runtime::Int32, data.shape());
  for (size_t group = 0; group < groups.first.size(); ++group) {
    copyElement(values, group, data, groups.first[group]);
    writeIndex(first, group, groups.first[group]);
  }
  for (size_t i = 0; i < groups.groupOf.size(); ++i) {
    writeIndex(inverse, i, groups.groupOf[i]);
    counts.elements<int32_t>()[groups.groupOf[i]]++;
  }
  Tensor count(runtime::Int32, {1});
  writeIndex(count, 0, groups.first.size());
  call.outputs = {values, first, inverse, count};
  if (parameters.wantsCounts)
    call.outputs.push_back(counts);
  return faultUnless(isKnown);
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
     .kernel = ordering(kernelOf<decodeSort, runSort>()),
     .gradient = GradientRule{sortGradient},
     .examples = sortExamples},
    {.name = "argsort",
     .doc = "Gives the positions of the elements in sorted order along a dimension.",
     .operands = data,
     .attributes = sortAttributes,
     .attributesKey = "relay.attrs.ArgsortAttrs",
     .relation = argsortRelation,
     .kernel = ordering(kernelOf<decodeSort, runArgsort>()),
     .gradient = NoGradient{"the result holds positions", true},
     .examples = argsortExamples},
    {.name = "topk",
     .doc = "Gives the largest or smallest elements along a dimension, in order.",
     .operands = data,
     .attributes = topkAttributes,
     .attributesKey = "relay.attrs.TopkAttrs",
     .relation = topkRelation,
     .kernel = ordering(kernelOf<decodeTopk, runTopk>()),
     .gradient = GradientRule{topkGradient},
     .examples = topkExamples},
    {.name = "searchsorted",
     .doc = "Finds where values would be inserted into sorted sequences.",
     .operands = searchOperands,
     .attributes = searchAttributes,
     .attributesKey = "relay.attrs.SearchSortedAttrs",
     .relation = searchSortedRelation,
     .kernel = ordering(kernelOf<decodeSearch, runSearchSorted>()),
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
     .kernel = ordering(kernelOf<decodeUnique, runUnique>()),
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

TopkParameters decodeTopk(const Attributes& attributes, Types operands) {
  std::string_view wanted = attributes.text("ret_type");
  const AttributeValue& k = attributes.get("k");
  return {normalAxisOf(attributes, operands),
          k.kind == AttributeValueKind::Int ? k.integer : 0,
          attributes.boolean("is_ascend"),
          wanted != "indices",
          wanted != "values",
          attributes.dtype("dtype").value_or(runtime::Int32)};
}

KernelFault topkOf(const KernelCall& call, const TopkParameters& parameters, int64_t k) {
  const Tensor& input = call.inputs[0];
  Lines lines = linesOf(input, parameters.axis);
  if (k > int64_t(lines.extent))
    return {KernelFaultCode::TooFewElements, {k, int64_t(lines.extent), int64_t(parameters.axis)}};
  size_t kept = k < 1 ? lines.extent : size_t(k);
  runtime::Shape shape = input.shape();
  shape[parameters.axis] = int64_t(kept);
  Tensor values(input.dtype(), shape), indices(parameters.dtype, shape);
  bool isKnown = visitOrders(
      input, lines, parameters.isAscending, [&](size_t line, const std::vector<size_t>& order) {
        for (size_t i = 0; i < kept; ++i) {
          size_t place = lines.place(line, i, kept);
          copyElement(values, place, input, lines.place(line, order[i], lines.extent));
          writeIndex(indices, place, order[i]);
        }
      });
  if (parameters.wantsValues)
    call.outputs.push_back(values);
  if (parameters.wantsIndices)
    call.outputs.push_back(indices);
  return faultUnless(isKnown);
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
