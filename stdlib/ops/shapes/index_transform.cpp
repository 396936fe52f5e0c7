// The operator that puts a tensor into the order which an index map tells.
//
// Relay's attribute is an object of the metadata, `meta[tir.IndexMap][0]`; texts of maps are taken
// as well, since objects have no literal.
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shapes/index_map.h"

#include <fmt/format.h>

namespace stdlib {

using runtime::Checked;
using runtime::Problem;

namespace {

using namespace lang;

/// The map as text; empty when it is something else.
std::string_view mapText(const Attributes& attributes) {
  const AttributeValue& value = attributes.get("index_map");
  if (value.kind == AttributeValueKind::String)
    return value.text;
  return value.items.size() == 1 ? value.items[0].text : std::string_view();
}

std::vector<std::optional<int64_t>> numbersOf(Dims shape) {
  std::vector<std::optional<int64_t>> numbers;
  for (const Dim* dim : shape)
    numbers.push_back(dim->isConstant() ? std::optional(dim->value) : std::nullopt);
  return numbers;
}

/// The extent that the terms of an index come to, over those of what they are digits of.
const Dim* extentOf(TypeContext& types, const IndexTerms& terms, const DimVector& extents) {
  if (terms.empty())
    return types.constant(1);
  const IndexDigit& digit = terms.front().digit;
  const Dim* above = digit.extent ? types.constant(*digit.extent)
                                  : types.floorDivide(extents[digit.input], digit.divisor);
  return types.multiply(above, types.constant(terms.front().scale));
}

RelationResult transformRelation(const RelationCall& call) {
  std::string_view text = mapText(call.attributes);
  auto ranks = indexMapRanks(text);
  if (!ranks)
    return call.failed(ranks.failure());
  if (ranks->from != call.rank(0))
    return call.failedAt(0, fmt::format("its index map is of {} indices, but the shape is `{}`",
                                        ranks->from, shapeText(call.shape(0))));
  auto numbers = numbersOf(call.shape(0));
  auto map = readIndexMap(text, numbers);
  DimVector shape;
  if (!map) {
    auto mayBeAny = [](const Dim* dim) { return !dim->isOneSize(); };
    if (std::ranges::none_of(call.shape(0), mayBeAny))
      return call.failedAt(0, map.failure());
    // What is one index of two may depend on their extents.
    shape.assign(ranks->to, call.types.any());
    return call.solved(shape, call.dtype(0));
  }
  DimVector extents(call.shape(0).begin(), call.shape(0).end());
  for (const IndexTerms& terms : map->fused)
    extents.push_back(extentOf(call.types, terms, extents));
  for (const IndexTerms& terms : map->outputs)
    shape.push_back(extentOf(call.types, terms, extents));
  RelationResult result = call.solved(shape, call.dtype(0));
  std::vector<int64_t> divisors = divisorsOf(*map);
  for (size_t i = 0; i < extents.size(); ++i)
    if (divisors[i] > 1 && !extents[i]->isConstant())
      requireMultiple(result, extents[i], divisors[i]);
  return result;
}

void computeTransform(ComputeCall& call) {
  TensorHandle x = call.input(0);
  std::string_view text = mapText(call.attributes());
  std::vector<std::optional<int64_t>> extents(x.rank());
  // A form that is right for all sizes, if there is one.
  auto map = readIndexMap(text, extents);
  if (!map) {
    for (size_t i = 0; i < x.rank(); ++i)
      extents[i] = int64_t(call.structuralExtent(0, i));
    map = readIndexMap(text, extents);
  }
  if (!map)
    return call.result([&](const Position&) { return call.number(x.dtype(), 0); });
  call.result([&](const Position& at) { return x(sourcePosition(*map, at, call.integer(0))); });
}

void transformGradient(GradientCall& d) {
  Term x = d.operand(0);
  Term places = d.call("meta_schedule_layout_transform", {placesLike(x)}, sameAttributes(d));
  give(d, 0, addedAtPlaces(d.cotangent(), places, x));
}

constexpr OperandRow data[] = {{"data", "the input"}};
constexpr AttributeRow attributes[] = {
    {"index_map", AttributeKind::Object, "", "where each element goes"}};
constexpr Example examples[] = {
    {"meta_schedule_layout_transform([[1, 2, 3, 4], [5, 6, 7, 8]], "
     "index_map=\"i, j -> j // 2, i, j % 2\")",
     "[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]"},
    {"meta_schedule_layout_transform([[1, 2, 3], [4, 5, 6]], index_map=\"i, j -> i * 3 + j\")",
     "[1, 2, 3, 4, 5, 6]"}};

constexpr OperatorRow rows[] = {
    {.name = "meta_schedule_layout_transform",
     .doc = "Moves the elements to where an index map says.",
     .details =
         "In Relay the map is an object of the metadata, `meta[tir.IndexMap][0]`. A text is taken "
         "too: names for the indices of the data, and behind an arrow the indices of the result, "
         "with `+`, `*`, `//` and `%`. The map must rearrange: it must have an inverse, and fill "
         "the result.",
     .operands = data,
     .attributes = attributes,
     .attributesKey = "relay.attrs.MetaScheduleLayoutTransformAttrs",
     .relation = transformRelation,
     .compute = computeTransform,
     .gradient = GradientRule{transformGradient},
     .examples = examples},
};

} // namespace

OperatorFamily indexTransformFamily() {
  return rows;
}

} // namespace stdlib
