// The rules and constants that families share.
#include "stdlib/ops/common.h"

#include "runtime/checks/declared.h"
#include "stdlib/ops/fixes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace stdlib {

using lang::CallChange;
using lang::Dim;
using lang::Dims;
using lang::RelationCall;
using lang::RelationResult;
using runtime::DType;

RelationResult sameAsValue(const RelationCall& call) {
  if (call.isKnown(0))
    return call.solved(call.operands[0]);
  RelationResult result = call.waitFor(0);
  result.output = call.operands[0];
  return result;
}

RelationResult sameAsFirst(const RelationCall& call) {
  return call.solved(call.operands[0]);
}

namespace {

/// A number of the other's type in place of one of the two, if one is a number; or a cast, of the
/// one that gives way first.
Fixes conversions(const RelationCall& call, size_t from, size_t other) {
  Fixes fixes;
  for (size_t i : {from, other})
    if (call.rank(i) == 0)
      addFallbacks(fixes, {{"write {}",
                            {{CallChange::Kind::Number,
                              i,
                              {},
                              runtime::dtypeName(call.dtype(i == from ? other : from))}}}});
  for (size_t i : {from, other})
    addFallbacks(
        fixes,
        {wrapFix("convert it: {}", i, "cast(",
                 words(", dtype={})", runtime::dtypeValue(call.dtype(i == from ? other : from))))});
  return fixes;
}

} // namespace

std::optional<RelationResult> requireSameDType(const RelationCall& call, size_t left,
                                               size_t right) {
  if (call.dtype(left) == call.dtype(right))
    return std::nullopt;
  RelationResult problem = call.failedAt(
      right, words("the element types differ: `{}` and `{}`", call.dtype(left), call.dtype(right)));
  bool isLeft = givesWay(call.dtype(left), call.dtype(right));
  problem.fixes = conversions(call, isLeft ? left : right, isLeft ? right : left);
  return problem;
}

std::optional<RelationResult> requireSameDType(const RelationCall& call,
                                               std::span<const lang::OperandRow> rows, size_t left,
                                               size_t right) {
  auto problem = requireSameDType(call, left, right);
  if (!problem)
    return std::nullopt;
  problem->operand.reset();
  problem->problem = words("the element types differ: `{}` is `{}`, `{}` is `{}`", rows[left].name,
                           call.dtype(left), rows[right].name, call.dtype(right));
  return problem;
}

void requireAtLeast(RelationResult& result, const Dim* dim, int64_t least) {
  bool isSolved = result.outcome == RelationResult::Outcome::Solved;
  if (isSolved && !dim->isConstant() && !dim->isAny() && !lang::isAtLeast(dim, least))
    result.bounds.push_back({dim, least});
}

void requireMultiple(RelationResult& result, const Dim* dim, int64_t divisor) {
  bool isSolved = result.outcome == RelationResult::Outcome::Solved;
  if (isSolved && !dim->isConstant() && !dim->isAny() && divisor > 1)
    result.bounds.push_back({dim, 0, divisor});
}

void requireSame(RelationResult& result, lang::TypeContext& types, const Dim* left,
                 const Dim* right) {
  requireAtLeast(result, types.subtract(left, right), 0);
  requireAtLeast(result, types.subtract(right, left), 0);
}

void requireRoom(RelationResult& result, const RelationCall& call, const Dim* room,
                 const Dim* extent) {
  if (!call.steps)
    return requireAtLeast(result, room, 0);
  // Lifted by an extent of 0 and made not negative, any room is at least the extent.
  const Dim* lifted = notNegative(call, call.types.add(room, extent));
  requireAtLeast(result, call.types.subtract(lifted, extent), 0);
}

const Dim* notNegative(const RelationCall& call, const Dim* dim) {
  using checks::SizeKind;
  return call.steps ? call.steps->compute(SizeKind::Greatest, dim, call.types.constant(0)) : dim;
}

std::optional<RelationResult> requireScalar(const RelationCall& call, size_t i,
                                            std::string_view name) {
  if (call.rank(i) == 0)
    return std::nullopt;
  return call.failedAt(i, fmt::format("`{}` must have no dimensions, but its shape is `{}`", name,
                                      lang::shapeText(call.shape(i))));
}

std::string broadcastProblem(Dims left, Dims right, size_t where) {
  return fmt::format(
      "the shapes `{}` and `{}` do not broadcast: {} and {} in {}", lang::shapeText(left),
      lang::shapeText(right), lang::dimText(left[left.size() - where]),
      lang::dimText(right[right.size() - where]),
      dimName(std::max(left.size(), right.size()) - where, std::max(left.size(), right.size())));
}

RelationResult broadcastFailure(const RelationCall& call, std::span<const lang::OperandRow> rows,
                                size_t left, size_t right) {
  Dims a = call.shape(left), b = call.shape(right);
  size_t rank = std::max(a.size(), b.size());
  std::vector<lang::DimMark> marks;
  std::string problem;
  for (size_t back = 1; back <= std::min(a.size(), b.size()); ++back) {
    const Dim *x = a[a.size() - back], *y = b[b.size() - back];
    if (call.broadcastDims(x, y))
      continue;
    marks.push_back({right, b.size() - back});
    marks.push_back({left, a.size() - back});
    if (problem.empty())
      problem = fmt::format("the shapes do not broadcast: {} of `{}` meets {} of `{}` in {}",
                            lang::dimText(x), rows[left].name, lang::dimText(y), rows[right].name,
                            dimName(rank - back, rank));
  }
  if (marks.empty())
    return call.failedAt(right, fmt::format("the shapes `{}` and `{}` do not broadcast",
                                            lang::shapeText(a), lang::shapeText(b)));
  return call.failedOn(std::move(marks), std::move(problem));
}

namespace {

bool givesWayTo(const RelationCall& call, const Dim* from, const Dim* to) {
  if (from->isConstant(1))
    return true;
  const Dim* both = call.steps ? call.broadcastDims(from, to) : from;
  return both && call.meetDims(both, to);
}

} // namespace

bool broadcastsTo(const RelationCall& call, Dims from, Dims to) {
  if (from.size() > to.size())
    return false;
  size_t offset = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (!givesWayTo(call, from[i], to[offset + i]))
      return false;
  return true;
}

std::optional<std::vector<const Dim*>> shapeAttribute(const RelationCall& call,
                                                      std::string_view name) {
  const lang::AttributeValue& value = call.attributes.get(name);
  if (value.kind == lang::AttributeValueKind::Null)
    return std::vector<const Dim*>{};
  std::span<const lang::AttributeValue> items =
      value.kind == lang::AttributeValueKind::List ? value.items : std::span(&value, 1);
  std::vector<const Dim*> shape;
  for (const lang::AttributeValue& item : items) {
    if (item.integer < 0)
      return std::nullopt;
    shape.push_back(call.types.constant(item.integer));
  }
  return shape;
}

RelationResult solvedAsWritten(const RelationCall& call, std::string_view name, lang::Dims shape,
                               runtime::DType dtype) {
  auto isWide = [](const lang::AttributeValue& item) {
    return item.width == 64 && item.integer >= 0 && item.integer <= INT32_MAX;
  };
  const lang::AttributeValue& value = call.attributes.get(name);
  bool asksWide = std::ranges::any_of(value.items, isWide) || isWide(value);
  return call.solved(call.types.tensor(shape, dtype, asksWide));
}

lang::Scalar constantOf(const lang::ComputeCall& call, DType dtype, double value) {
  return dtype.isFloat() ? call.number(dtype, value)
                         : lang::cast(call.number(runtime::Float64, value), dtype);
}

lang::Scalar lowestOf(const lang::ComputeCall& call, DType dtype) {
  if (dtype.isFloat())
    return call.number(dtype, -std::numeric_limits<double>::infinity());
  return call.number(dtype, dtype.isSigned() ? -std::ldexp(1.0, dtype.bits - 1) : 0.0);
}

} // namespace stdlib
