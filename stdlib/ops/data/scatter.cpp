// Operators that write elements at positions given by data: scatter_elements and scatter_nd.
//
// They are native functions, because positions may repeat (runtime/natives/scatter.h).
#include "runtime/natives/scatter.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/products.h"
#include "stdlib/ops/shape_rules.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>

namespace stdlib {

namespace {

using namespace lang;
using natives::Joining;

constexpr std::array<std::string_view, 6> joiningNames = {"update", "add", "mul",
                                                          "mean",   "min", "max"};

/// The joining of a name; `scatter_nd` has no mean.
std::optional<Joining> joiningOf(std::string_view name, bool withMean) {
  for (size_t i = 0; i < joiningNames.size(); ++i)
    if (joiningNames[i] == name && (withMean || Joining(i) != Joining::Mean))
      return Joining(i);
  return std::nullopt;
}

RelationResult scatterElementsRelation(const RelationCall& call) {
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, call.rank(0));
  if (!axis)
    return axisFailure(call, "axis", given);
  if (!joiningOf(call.attributes.text("reduction"), true))
    return call.failed(fmt::format("`reduction` is `{}`, but it must be one of {}",
                                   call.attributes.text("reduction"),
                                   fmt::join(joiningNames, ", ")));
  if (!call.dtype(1).isInteger())
    return call.failedAt(
        1, words("`indices` must hold integers, but its type is `{}`", call.operands[1]));
  if (auto problem = requireSameDType(call, 0, 2))
    return *problem;
  Dims data = call.shape(0), indices = call.shape(1), updates = call.shape(2);
  bool good = indices.size() == data.size() && updates.size() == data.size();
  for (size_t i = 0; good && i < data.size(); ++i) {
    const Dim* rest = call.types.subtract(data[i], indices[i]);
    bool larger = i != *axis && rest->isConstant() && rest->value < 0;
    const Dim* unused = call.types.subtract(updates[i], indices[i]);
    good = !larger && !(unused->isConstant() && unused->value < 0);
  }
  if (!good)
    return call.failedAt(
        1, fmt::format("indices of shape `{}` and updates of shape `{}` do not fit "
                       "data of shape `{}` along axis {}",
                       shapeText(indices), shapeText(updates), shapeText(data), *axis));
  RelationResult result = sameAsFirst(call);
  for (size_t i = 0; i < data.size(); ++i) {
    if (matchDims(indices[i], updates[i]) == DimMatch::Different)
      result.doubt = fmt::format("only `{}` of the updates, `{}`, have indices", shapeText(indices),
                                 shapeText(updates));
    if (i != *axis)
      requireAtLeast(result, call.types.subtract(data[i], indices[i]), 0);
    requireAtLeast(result, call.types.subtract(updates[i], indices[i]), 0);
  }
  return result;
}

RelationResult scatterNdRelation(const RelationCall& call) {
  if (!joiningOf(call.attributes.text("mode"), false))
    return call.failed(
        fmt::format("`mode` is `{}`, but it must be one of update, add, mul, min, max",
                    call.attributes.text("mode")));
  if (!call.dtype(1).isInteger())
    return call.failedAt(
        1, words("`indices` must hold integers, but its type is `{}`", call.operands[1]));
  if (auto problem = requireSameDType(call, 0, 2))
    return *problem;
  Dims data = call.shape(0), indices = call.shape(1), updates = call.shape(2);
  if (indices.empty() || !indices[0]->isConstant() || indices[0]->value > int64_t(data.size()))
    return call.failedAt(1, fmt::format("the first extent of `indices` must be a number up to {}, "
                                        "but its shape is `{}`",
                                        data.size(), shapeText(indices)));
  DimVector expected(indices.begin() + 1, indices.end());
  expected.insert(expected.end(), data.begin() + ptrdiff_t(indices[0]->value), data.end());
  bool good = expected.size() == updates.size();
  for (size_t i = 0; good && i < expected.size(); ++i)
    good = call.meetDims(expected[i], updates[i]);
  if (!good)
    return call.failedAt(2, fmt::format("the updates must have the shape `{}`, but it is `{}`",
                                        shapeText(expected), shapeText(updates)));
  return sameAsFirst(call);
}

natives::ScatterParameters decodeElements(const Attributes& attributes, Types operands) {
  int64_t axis = attributes.integer("axis");
  return {size_t(axis < 0 ? axis + int64_t(operands[0]->shape.size()) : axis),
          *joiningOf(attributes.text("reduction"), true)};
}

natives::ScatterParameters decodeSlices(const Attributes& attributes, Types) {
  return {0, *joiningOf(attributes.text("mode"), false)};
}

bool movesElements(const Attributes& attributes) {
  return attributes.text("reduction") == "update";
}

bool movesSlices(const Attributes& attributes) {
  return attributes.text("mode") == "update";
}

constexpr OperandRow operands[] = {{"data", "the tensor to write into a copy of"},
                                   {"indices", "the positions to write at"},
                                   {"updates", "what to write"}};

constexpr AttributeRow elementsAttributes[] = {
    {"axis", AttributeKind::Int, "0", "the dimension that the indices are positions in", false,
     true},
    {"reduction", AttributeKind::String, "\"update\"",
     "how an update joins what is there: update, add, mul, mean, min, max"}};
constexpr AttributeRow ndAttributes[] = {
    {"mode", AttributeKind::String, "\"update\"",
     "how an update joins what is there: update, add, mul, min, max"}};

constexpr Example elementsExamples[] = {
    {"scatter_elements([1f, 2f, 3f], [2, 0], [9f, 8f], "
     "attrs_type_key=\"relay.attrs.ScatterElementsAttrs\")",
     "[8f, 2f, 9f]"},
    {"scatter_elements([[1f, 2f], [3f, 4f]], [[1, 1], [0, -1]], [[1f, 2f], [3f, 4f]], axis=1, "
     "reduction=\"add\", attrs_type_key=\"relay.attrs.ScatterElementsAttrs\")",
     "[[1f, 5f], [6f, 8f]]"},
    {"scatter_elements([1f, 2f, 3f], [2], [9f, 8f], "
     "attrs_type_key=\"relay.attrs.ScatterElementsAttrs\")",
     "[1f, 2f, 9f]"}};
constexpr Example ndExamples[] = {
    {"scatter_nd([[1f, 2f], [3f, 4f]], [[0, 1], [1, 1]], [8f, 9f], "
     "attrs_type_key=\"relay.attrs.ScatterNDAttrs\")",
     "[[1f, 8f], [3f, 9f]]"},
    {"scatter_nd([[1, 2], [3, 4]], [[1, 1]], [[1, 1], [2, 2]], mode=\"add\", "
     "attrs_type_key=\"relay.attrs.ScatterNDAttrs\")",
     "[[1, 2], [6, 7]]"}};

/// What the rules of both operators share: reading at the positions, and the operator again on
/// other data and updates, with another way of joining.
struct ScatterGradient {
  GradientCall& d;
  Term data, indices, updates;
  std::string_view joining;
  bool isSlices;

  ScatterGradient(GradientCall& call, std::string_view attribute)
      : d(call), data(call.operand(0)), indices(call.operand(1)), updates(call.operand(2)),
        joining(call.attributes().text(attribute)), isSlices(attribute == "mode") {
    if (!isSlices)
      updates = slicedLike(updates, indices, allAxes(updates.rank()));
  }

  Term gathered(const Term& from) const {
    if (isSlices)
      return d.call("gather_nd", {from, indices});
    size_t axis = d.axis("axis", data.rank());
    return d.call(
        "gather",
        {slicedLike(from, indices, allAxesBut(axis, data.rank())), castTo(indices, runtime::Int64)},
        {{"axis", axis}});
  }

  Term scattered(const Term& to, const Term& from, std::string_view how) const {
    if (isSlices)
      return d.call("scatter_nd", {to, indices, from}, {{"mode", how}});
    return d.call("scatter_elements", {to, indices, from},
                  {{"axis", d.attributes().get("axis")}, {"reduction", how}});
  }

  void build() const {
    if (joining == "update")
      update();
    else if (joining == "mul")
      multiply();
    else if (joining == "mean")
      halve();
    else if (joining == "add")
      giveBoth(d.cotangent(), gathered(d.cotangent()));
    else
      choose();
  }

private:
  void giveBoth(const Term& toData, const Term& toUpdates) const {
    Term all = d.operand(2);
    auto isUsed = [&](size_t i) {
      return matchDims(all.dim(i), toUpdates.dim(i)) == DimMatch::Same;
    };
    bool areUsed = isSlices || std::ranges::all_of(allAxes(all.rank()), isUsed);
    give(d, 0, toData);
    give(d, 2, areUsed ? toUpdates : placedAtStart(toUpdates, all));
  }

  /// Whether there is no more than one update of a place.
  bool isSingle() const {
    Dims shape = indices.shape();
    return std::ranges::all_of(shape.subspan(isSlices ? 1 : 0),
                               [](const Dim* dim) { return dim->isConstant(1); });
  }

  /// Of several updates of a place the last one stays: the one whose number stands there when the
  /// numbers of the updates are written in place of the updates. What the updates get is read
  /// before zeros are written, which can be done in place then.
  void update() const {
    if (isSingle()) {
      Term toUpdates = gathered(d.cotangent());
      return giveBoth(scattered(d.cotangent(), zerosLike(updates), "update"), toUpdates);
    }
    Term numbers = placesLike(updates);
    Term written = scattered(castTo(zerosLike(data), runtime::Int64), numbers, "update");
    Term toUpdates = maskedBy(gathered(written) == numbers, gathered(d.cotangent()));
    giveBoth(scattered(d.cotangent(), zerosLike(updates), "update"), toUpdates);
  }

  /// The updates in the order of their places, those of one place together in their own order.
  struct Ordered {
    /// The places of the updates in row-major order, and which update comes when.
    Term places, order;
  };
  Ordered ordered() const {
    Term places = reshaped(gathered(placesLike(data)), {-1});
    Term order = d.call("argsort", {places}, {{"axis", 0}, {"dtype", "int64"}});
    return {take(places, order, 0), order};
  }

  /// The product of all factors of a place but one. Running products over the updates of each place
  /// are recurrences that start anew where a place begins.
  void multiply() const {
    Ordered byPlace = ordered();
    Term isFirst = map("logical_not", byPlace.places == shifted(byPlace.places, 0, 1, -1));
    Term factors = take(reshaped(updates, {-1}), byPlace.order, 0);
    Term starts = take(reshaped(gathered(data), {-1}), byPlace.order, 0);
    Term isLast = shifted(castTo(isFirst, data.dtype()), 0, -1, 1);
    Term before = recurrence(unlessMasked(isFirst, shifted(factors, 0, 1)),
                             maskedBy(isFirst, starts), 0, false);
    Term behind = recurrence(unlessMasked(isFirst, factors), isLast, 0, true);
    Term back = d.call("argsort", {byPlace.order}, {{"axis", 0}, {"dtype", "int64"}});
    Term others = reshapedLike(take(before * behind, back, 0), updates);
    giveBoth(d.cotangent() * scattered(onesLike(data), updates, "mul"),
             gathered(d.cotangent()) * others);
  }

  /// Each joining halves what was there: an update counts half for itself and for every later one
  /// of its place.
  void halve() const {
    auto [places, order] = ordered();
    Term ends = d.call("searchsorted", {places, places}, {{"right", true}, {"dtype", "int64"}});
    Term later = ends - placesLike(places);
    Term counts = d.call("scatter_elements", {zerosLike(later), order, later}, {{"axis", 0}});
    Term share = power(number(data, 0.5), castTo(reshapedLike(counts, updates), data.dtype()));
    Term kept = scattered(onesLike(data), zerosLike(updates), "mean");
    giveBoth(d.cotangent() * kept, gathered(d.cotangent()) * share);
  }

  /// All that are the result share its cotangent.
  void choose() const {
    Term isData = data == d.result(), isUpdate = updates == gathered(d.result());
    Term count = scattered(castTo(isData, data.dtype()), castTo(isUpdate, data.dtype()), "add");
    Term share = d.cotangent() / count;
    giveBoth(maskedBy(isData, share), maskedBy(isUpdate, gathered(share)));
  }
};

void scatterElementsGradient(GradientCall& d) {
  ScatterGradient(d, "reduction").build();
}

void scatterNdGradient(GradientCall& d) {
  ScatterGradient(d, "mode").build();
}

constexpr GradientExample elementsGradients[] = {
    {"scatter_elements([1f, 2f], [1, 1], [8f, 9f], "
     "attrs_type_key=\"relay.attrs.ScatterElementsAttrs\")",
     "[1f, 2f]", "([1f, 0f], [0f, 2f])"},
    {"scatter_elements([0f, 2f], [1, 0], [2f, 3f], reduction=\"max\", "
     "attrs_type_key=\"relay.attrs.ScatterElementsAttrs\")",
     "[4f, 4f]", "([0f, 2f], [2f, 4f])"},
    {"scatter_elements([1f, 2f, 3f], [2], [9f, 8f], "
     "attrs_type_key=\"relay.attrs.ScatterElementsAttrs\")",
     "[1f, 2f, 3f]", "([1f, 2f, 0f], [3f, 0f])"}};

constexpr OperatorRow rows[] = {
    {.name = "scatter_elements",
     .synonyms = "scatter scatter_add put_along_axis",
     .doc = "Writes single elements at positions along a dimension.",
     .details =
         "For axis 0, result[indices[i, j], j] is joined with updates[i, j]; updates without an "
         "index are not used. `mean` halves "
         "the sum with each update. Equal extremes share the gradient.",
     .operands = operands,
     .attributes = elementsAttributes,
     .attributesKey = "relay.attrs.ScatterElementsAttrs",
     .relation = scatterElementsRelation,
     .native = ordering(nativeOf<natives::scatterElements, decodeElements>(), movesElements),
     .gradient = GradientRule{scatterElementsGradient, elementsGradients},
     .examples = elementsExamples,
     .unregisteredAttributes = true},
    {.name = "scatter_nd",
     .synonyms = "segment_sum index_add",
     .doc = "Writes slices at positions that are tuples along the first dimension of the indices.",
     .details = "result[indices[0, y...], ..., indices[m - 1, y...]] is joined with updates[y...]. "
                "Equal extremes share the gradient.",
     .operands = operands,
     .attributes = ndAttributes,
     .attributesKey = "relay.attrs.ScatterNDAttrs",
     .relation = scatterNdRelation,
     .native = ordering(nativeOf<natives::scatterSlices, decodeSlices>(), movesSlices),
     .gradient = GradientRule{scatterNdGradient},
     .examples = ndExamples,
     .unregisteredAttributes = true},
};

} // namespace

OperatorFamily scatterFamily() {
  return rows;
}

} // namespace stdlib
