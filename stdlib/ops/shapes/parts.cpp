// Tensors of tensors: parts along leading or trailing dimensions, by one row-major number.
// Jacobians are put together with them, one row or one column after the other.
//
// A negative number counts from the back. One outside is no fault: there is no such part, so a part
// that is read there is zero, and one that is written there is lost.
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shape_rules.h"

#include <algorithm>

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

/// The problem when operand `i` is no integer scalar, else nothing.
std::optional<RelationResult> requireIndex(const RelationCall& call, size_t i) {
  if (call.rank(i) == 0 && call.dtype(i).isInteger())
    return std::nullopt;
  return call.failedAt(
      i, words("`index` must be an integer scalar, but it is `{}`", call.operands[i]));
}

RelationResult oneAtRelation(const RelationCall& call) {
  auto problem = requireIndex(call, 1);
  return problem ? *problem : call.solved(call.operands[0]);
}

void oneAt(ComputeCall& call) {
  TensorHandle x = call.input(0), index = call.input(1);
  call.result([&](const Position& at) {
    Scalar place = cast(index({}), runtime::Int64);
    Scalar flat = at.empty() ? call.integer(0) : flatten(at, x.shape());
    return select(flat == place, call.number(x.dtype(), 1), call.number(x.dtype(), 0));
  });
}

RelationResult partsLikeRelation(const RelationCall& call) {
  std::vector<const Dim*> shape(call.shape(0).begin(), call.shape(0).end());
  shape.insert(shape.end(), call.shape(1).begin(), call.shape(1).end());
  return call.solved(shape, call.dtype(1));
}

void partsLike(ComputeCall& call) {
  call.result([&](const Position&) { return call.number(call.outputDType(), 0); });
}

std::optional<size_t> outerRank(const RelationCall& call) {
  int64_t outer = call.attributes.integer("outer_rank");
  return outer < 0 || outer > int64_t(call.rank(0)) ? std::nullopt : std::optional(size_t(outer));
}

RelationResult partOfRelation(const RelationCall& call) {
  if (auto problem = requireIndex(call, 1))
    return *problem;
  auto outer = outerRank(call);
  if (!outer)
    return call.failed(words("`outer_rank` is {}, but the parts are `{}`",
                             call.attributes.integer("outer_rank"), call.operands[0]));
  Dims shape = call.shape(0);
  return call.solved(call.attributes.boolean("trailing") ? shape.first(shape.size() - *outer)
                                                         : shape.subspan(*outer),
                     call.dtype(0));
}

/// The extents or positions of the dimensions that parts lie along, and of those of a part.
template <typename List>
std::pair<List, List> split(const ComputeCall& call, const List& whole, size_t outer) {
  bool isTrailing = call.attributes().boolean("trailing");
  auto middle = whole.begin() + ptrdiff_t(isTrailing ? whole.size() - outer : outer);
  List first(whole.begin(), middle), last(middle, whole.end());
  return isTrailing ? std::pair(last, first) : std::pair(first, last);
}

Scalar countOf(const ComputeCall& call, const Extents& outer) {
  Scalar count = call.integer(1);
  for (const Scalar& extent : outer)
    count = count * extent;
  return count;
}

void partOf(ComputeCall& call) {
  TensorHandle parts = call.input(0), index = call.input(1);
  auto outer = split(call, parts.shape(), size_t(call.attributes().integer("outer_rank"))).first;
  call.result([&](const Position& at) {
    Scalar zero = call.number(parts.dtype(), 0);
    Scalar count = countOf(call, outer);
    Scalar flat = wrapNegative(index({}), count);
    Position place = outer.empty() ? Position{} : unflatten(flat, outer);
    bool isTrailing = call.attributes().boolean("trailing");
    Scalar part = parts.orElse(isTrailing ? joined(at, place) : joined(place, at), zero);
    return select(flat >= call.integer(0) && flat < count, part, zero);
  });
}

RelationResult withPartRelation(const RelationCall& call) {
  if (auto problem = requireIndex(call, 2))
    return *problem;
  if (auto problem = requireSameDType(call, 0, 1))
    return *problem;
  size_t inner = call.rank(1);
  if (inner > call.rank(0))
    return call.failedAt(1, "a part has no more dimensions than the parts together");
  size_t first = call.attributes.boolean("trailing") ? 0 : call.rank(0) - inner;
  Dims wanted = call.shape(0).subspan(first, inner);
  for (size_t i = 0; i < inner; ++i)
    if (call.differ(wanted[i], call.shape(1)[i]))
      return call.failedOn({{1, i}, {0, first + i}},
                           fmt::format("the parts have the shape `{}`, but this one has `{}`",
                                       shapeText(wanted), shapeText(call.shape(1))));
  return call.solved(call.operands[0]);
}

void withPart(ComputeCall& call) {
  TensorHandle parts = call.input(0), part = call.input(1), index = call.input(2);
  size_t outer = parts.rank() - part.rank();
  call.result([&](const Position& at) {
    auto [place, inside] = split(call, at, outer);
    Extents shape = split(call, parts.shape(), outer).first;
    Scalar flat = wrapNegative(index({}), countOf(call, shape));
    Scalar number = outer == 0 ? call.integer(0) : flatten(place, shape);
    return select(number == flat, part(inside), parts(at));
  });
}

constexpr OperandRow oneAtOperands[] = {{"data", "the tensor whose type the result has"},
                                        {"index", "the row-major number of an element"}};
constexpr OperandRow partsLikeOperands[] = {{"outer", "a tensor with the leading dimensions"},
                                            {"inner", "a tensor of the type of a part"}};
constexpr OperandRow partOfOperands[] = {
    {"parts", "the parts, along leading or trailing dimensions"},
    {"index", "the row-major number of a part"}};
constexpr OperandRow withPartOperands[] = {
    {"parts", "the parts, along leading or trailing dimensions"},
    {"part", "a part"},
    {"index", "the row-major number of the part"}};
constexpr AttributeRow trailingRow{"trailing", AttributeKind::Bool, "False",
                                   "whether the parts lie along the last dimensions"};
constexpr AttributeRow partOfAttributes[] = {
    {"outer_rank", AttributeKind::Int, "1", "how many dimensions the parts lie along"},
    trailingRow};
constexpr AttributeRow withPartAttributes[] = {trailingRow};

constexpr Example oneAtExamples[] = {{"one_at([[5f, 6f], [7f, 8f]], 2)", "[[0f, 0f], [1f, 0f]]"},
                                     {"one_at(3f, 1)", "0f"}};
constexpr Example partsLikeExamples[] = {
    {"parts_like([1, 2], [3f, 4f, 5f])", "[[0f, 0f, 0f], [0f, 0f, 0f]]"}};
constexpr Example partOfExamples[] = {
    {"part_of([[1f, 2f], [3f, 4f]], 1, outer_rank=1)", "[3f, 4f]"},
    {"part_of([[1f, 2f], [3f, 4f]], 2, outer_rank=2)", "3f"},
    {"part_of([[1f, 2f], [3f, 4f]], 4, outer_rank=2)", "0f"},
    {"part_of([[1f, 2f], [3f, 4f]], 1, trailing=True)", "[2f, 4f]"}};
constexpr Example withPartExamples[] = {
    {"with_part([[1f, 2f], [3f, 4f]], [8f, 9f], 0)", "[[8f, 9f], [3f, 4f]]"},
    {"with_part([1f, 2f], 7f, 1i64)", "[1f, 7f]"},
    {"with_part([1f, 2f, 3f], 7f, -1)", "[1f, 2f, 7f]"},
    {"with_part([[1f, 2f], [3f, 4f]], [8f, 9f], 0, trailing=True)", "[[8f, 2f], [9f, 4f]]"}};

constexpr OperatorRow rows[] = {
    {.name = "one_at",
     .doc = "Zeros, and a one at one place: a vector of the standard basis.",
     .details = "Where there is no such place, all are zeros.",
     .operands = oneAtOperands,
     .relation = oneAtRelation,
     .compute = oneAt,
     .role = Role::OneAt,
     .gradient = constantResult,
     .examples = oneAtExamples},
    {.name = "parts_like",
     .doc = "Zeros in the shape of one tensor followed by that of another one.",
     .operands = partsLikeOperands,
     .relation = partsLikeRelation,
     .compute = partsLike,
     .role = Role::PartsLike,
     .gradient = constantResult,
     .examples = partsLikeExamples},
    {.name = "part_of",
     .doc = "One part of a tensor of tensors.",
     .details = "A negative number counts from the back. Where there is no such part, it is zero.",
     .operands = partOfOperands,
     .attributes = partOfAttributes,
     .attributesKey = "baton.attrs.PartOfAttrs",
     .relation = partOfRelation,
     .compute = partOf,
     .gradient = GradientRule{[](GradientCall& d) {
       give(d, 0,
            d.call("with_part", {zerosLike(d.operand(0)), d.cotangent(), d.operand(1)},
                   {{"trailing", d.attributes().boolean("trailing")}}));
     }},
     .examples = partOfExamples},
    {.name = "with_part",
     .doc = "A tensor of tensors with one part replaced.",
     .details = "A negative number counts from the back. Where there is no such part, nothing is "
                "replaced, where `scatter_nd` would fail.",
     .operands = withPartOperands,
     .attributes = withPartAttributes,
     .attributesKey = "baton.attrs.WithPartAttrs",
     .relation = withPartRelation,
     .compute = withPart,
     .role = Role::WithPart,
     .gradient = GradientRule{[](GradientCall& d) {
       Term part = d.operand(1), index = d.operand(2);
       bool isTrailing = d.attributes().boolean("trailing");
       give(d, 0,
            d.call("with_part", {d.cotangent(), zerosLike(part), index},
                   {{"trailing", isTrailing}}));
       give(d, 1,
            d.call("part_of", {d.cotangent(), index},
                   {{"outer_rank", d.operand(0).rank() - part.rank()}, {"trailing", isTrailing}}));
     }},
     .examples = withPartExamples},
};

} // namespace

lang::OperatorFamily partsFamily() {
  return rows;
}

} // namespace stdlib
