// Trials of changed calls, and the words for those that hold.
#include "stdlib/ops/fixes.h"

#include "lang/types/type.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stdlib {

using lang::AttributeValue;
using lang::AttributeValueKind;
using lang::CallChange;
using lang::Dim;
using lang::Dims;
using lang::RelationCall;
using lang::RelationResult;
using lang::Words;

Trial::Trial(const RelationCall& call)
    : call_(call), operands_(call.operands.begin(), call.operands.end()),
      values_(call.attributes.values.begin(), call.attributes.values.end()) {}

Trial& Trial::operand(size_t i, const lang::Type* type) {
  operands_[i] = type;
  return *this;
}

Trial& Trial::shape(size_t i, Dims shape) {
  return operand(i, call_.types.tensor(shape, operands_[i]->dtype));
}

Trial& Trial::attribute(std::string_view name, const AttributeValue& value) {
  for (size_t i = 0; i < values_.size(); ++i)
    if (call_.attributes.rows[i].name == name)
      values_[i] = value;
  return *this;
}

Trial& Trial::attribute(std::string_view name, const std::vector<AttributeValue>& items) {
  return attribute(name, lang::listAttribute(items));
}

bool Trial::holds(Relation relation) const {
  lang::Attributes attributes{call_.attributes.rows, values_};
  RelationCall changed{call_.types, operands_, attributes};
  return relation(changed).outcome == RelationResult::Outcome::Solved;
}

Fixes allFixes(std::initializer_list<Fix> fixes) {
  Fixes result;
  for (const Fix& fix : fixes)
    if (fix)
      result.push_back(*fix);
  return result;
}

void addFallbacks(Fixes& fixes, const Fixes& others) {
  bool isFirst = fixes.empty();
  for (const lang::CallFix& other : others) {
    if (!isFirst && other.changes.empty())
      continue;
    fixes.push_back(other);
    fixes.back().isFallback |= !isFirst;
  }
}

Fixes firstFixes(std::initializer_list<Fix> fixes) {
  Fixes result;
  for (const Fix& fix : fixes)
    addFallbacks(result, fixesOf(fix));
  return result;
}

Fix reworded(Fix fix, Words text) {
  if (fix)
    fix->text = std::move(text);
  return fix;
}

lang::CallFix wrapFix(Words text, size_t operand, std::string before, Words after,
                      std::optional<size_t> field) {
  return {std::move(text),
          {{CallChange::Kind::Wrap, operand, field, {}, std::move(before), std::move(after)}}};
}

namespace {

bool areTensors(const RelationCall& call, size_t count) {
  return call.operands.size() >= count &&
         std::ranges::all_of(call.operands.first(count),
                             [](const lang::Type* type) { return type->isTensor(); });
}

Words valueText(const AttributeValue& value) {
  if (value.kind == AttributeValueKind::String)
    return fmt::format("\"{}\"", value.text);
  if (value.kind == AttributeValueKind::Bool)
    return value.integer ? runtime::either("True", "true") : runtime::either("False", "false");
  return std::to_string(value.integer);
}

} // namespace

Fix swapFix(const RelationCall& call, Relation relation) {
  if (!areTensors(call, 2) || call.operands[0] == call.operands[1])
    return std::nullopt;
  Trial trial(call);
  trial.operand(0, call.operands[1]).operand(1, call.operands[0]);
  if (!trial.holds(relation))
    return std::nullopt;
  return lang::CallFix{"swap the arguments: {}", {{CallChange::Kind::Swap, 1}}};
}

Fix transposeFix(const RelationCall& call, Relation relation, size_t i, Words text) {
  if (!areTensors(call, i + 1) || call.rank(i) < 2 || call.rank(i) > highestFixedRank)
    return std::nullopt;
  size_t rank = call.rank(i);
  std::vector<const Dim*> shape(call.shape(i).begin(), call.shape(i).end());
  std::vector<size_t> axes(rank);
  for (size_t axis = 0; axis < rank; ++axis)
    axes[axis] = axis;
  std::swap(shape[rank - 2], shape[rank - 1]);
  std::swap(axes[rank - 2], axes[rank - 1]);
  if (!Trial(call).shape(i, shape).holds(relation))
    return std::nullopt;
  return wrapFix(std::move(text), i, "transpose(",
                 fmt::format(", axes=[{}])", fmt::join(axes, ", ")));
}

Fix batchAxisFix(const RelationCall& call, Relation relation, size_t i) {
  if (!areTensors(call, i + 1))
    return std::nullopt;
  std::vector<const Dim*> shape(call.shape(i).begin(), call.shape(i).end());
  shape.insert(shape.begin(), call.types.constant(1));
  if (!Trial(call).shape(i, shape).holds(relation))
    return std::nullopt;
  return wrapFix("add a batch axis: {}", i, "expand_dims(", ", axis=0)");
}

namespace {

Fix attributeChange(Words text, std::string_view name, Words value) {
  return lang::CallFix{
      std::move(text),
      {{CallChange::Kind::Attribute, 0, {}, std::string(name), std::move(value), {}}}};
}

} // namespace

Fix attributeFix(const RelationCall& call, Relation relation, std::string_view name,
                 const AttributeValue& value, Words text) {
  if (!Trial(call).attribute(name, value).holds(relation))
    return std::nullopt;
  return attributeChange(std::move(text), name, valueText(value));
}

Fix listFix(const RelationCall& call, Relation relation, std::string_view name,
            std::span<const int64_t> values, Words text) {
  std::vector<AttributeValue> items;
  for (int64_t value : values)
    items.push_back(lang::intAttribute(value));
  if (!Trial(call).attribute(name, items).holds(relation))
    return std::nullopt;
  return attributeChange(std::move(text), name, fmt::format("[{}]", fmt::join(values, ", ")));
}

Fix newAxesFix(const RelationCall& call, Relation relation, size_t i, size_t count) {
  if (!areTensors(call, i + 1) || count == 0 || call.rank(i) + count > highestFixedRank)
    return std::nullopt;
  size_t rank = call.rank(i);
  for (size_t axis = rank + 1; axis-- > 0;) {
    std::vector<const Dim*> shape(call.shape(i).begin(), call.shape(i).end());
    shape.insert(shape.begin() + ptrdiff_t(axis), count, call.types.constant(1));
    if (!Trial(call).shape(i, shape).holds(relation))
      continue;
    std::string many = count == 1 ? "" : fmt::format(", num_newaxis={}", count);
    return wrapFix(fmt::format("add {}: {{}}", counted(int64_t(count), "axis")), i, "expand_dims(",
                   fmt::format(", axis={}{})", axis, many));
  }
  return std::nullopt;
}

Fix shapeFix(const RelationCall& call, Relation relation, size_t i, std::string_view name,
             size_t dim, const Dim* extent) {
  if (!areTensors(call, i + 1) || dim >= call.rank(i) || extent->isAny())
    return std::nullopt;
  std::vector<const Dim*> shape(call.shape(i).begin(), call.shape(i).end());
  shape[dim] = extent;
  if (!Trial(call).shape(i, shape).holds(relation))
    return std::nullopt;
  return lang::CallFix{fmt::format("for this `data`, `{}` must have the shape `{}`", name,
                                   lang::shapeText(Dims(shape)))};
}

bool givesWay(runtime::DType left, runtime::DType right) {
  if (left.isFloat() != right.isFloat())
    return right.isFloat();
  if (left.isFloat())
    return left.bits > right.bits;
  return left.isBool() || (!right.isBool() && left.bits < right.bits);
}

RelationResult mended(RelationResult failure, lang::CallFix fix) {
  failure.fixes.push_back(std::move(fix));
  return failure;
}

RelationResult failedCall(const RelationCall& call, std::vector<lang::DimMark> marks,
                          Words problem) {
  RelationResult result = call.failed(std::move(problem));
  result.marks = std::move(marks);
  return result;
}

RelationResult failedCall(const RelationCall& call, std::vector<lang::DimMark> marks,
                          runtime::Problem problem) {
  return failedCall(call, std::move(marks), std::move(problem.text));
}

std::string dimName(size_t dim, size_t rank) {
  constexpr std::string_view names[] = {"the last", "the second to last", "the third to last"};
  size_t fromBack = rank - dim - 1;
  if (rank < 2 || fromBack >= std::size(names))
    return fmt::format("dimension {}", dim);
  return fmt::format("{} dimension", names[fromBack]);
}

std::string counted(int64_t count, std::string_view noun) {
  if (count == 1)
    return noun == "axis" ? "an axis" : fmt::format("1 {}", noun);
  return noun == "axis" ? fmt::format("{} axes", count) : fmt::format("{} {}s", count, noun);
}

std::vector<int64_t> nearDivisors(int64_t whole, int64_t wanted) {
  std::vector<int64_t> result;
  if (whole < 1 || wanted < 1)
    return result;
  std::optional<int64_t> below, above;
  for (int64_t left = 1; left <= whole / left && left <= 1 << 20; ++left) {
    if (whole % left != 0)
      continue;
    for (int64_t divisor : {left, whole / left}) {
      if (divisor <= wanted && (!below || divisor > *below))
        below = divisor;
      if (divisor >= wanted && (!above || divisor < *above))
        above = divisor;
    }
  }
  if (below)
    result.push_back(*below);
  if (above && above != below)
    result.push_back(*above);
  return result;
}

} // namespace stdlib
