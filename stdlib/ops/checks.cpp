// Checks of axes, side operands and extents that the neural-network families share.
#include "stdlib/ops/checks.h"

#include "stdlib/ops/fixes.h"
#include "stdlib/ops/shape_rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stdlib {

using lang::Dim;
using lang::RelationCall;
using lang::RelationResult;
using lang::Type;

RelationResult axisFailure(const RelationCall& call, std::string_view attribute, int64_t axis,
                           size_t operand) {
  return axisFailureIn(call, attribute, axis, call.rank(operand));
}

namespace {

/// The attribute with `axis` in place of `wrong`, which it is or has in its list.
std::string axisText(const lang::AttributeValue& value, int64_t wrong, int64_t axis) {
  if (value.kind != lang::AttributeValueKind::List)
    return std::to_string(axis);
  std::vector<int64_t> entries;
  for (const lang::AttributeValue& item : value.items)
    entries.push_back(item.integer == wrong ? axis : item.integer);
  return fmt::format("[{}]", fmt::join(entries, ", "));
}

} // namespace

RelationResult axisFailureIn(const RelationCall& call, std::string_view attribute, int64_t axis,
                             size_t rank) {
  RelationResult result = call.failed(axisProblem(attribute, axis, rank));
  if (rank == 0 || axis != int64_t(rank))
    return result;
  std::string text = axisText(call.attributes.get(attribute), axis, axis - 1);
  result.fixes = {
      {fmt::format("axes count from 0: the last axis is {} or -1", rank - 1)},
      {"write {}", {{lang::CallChange::Kind::Attribute, 0, {}, std::string(attribute), text, {}}}}};
  return result;
}

namespace {

bool surelyDiffers(const RelationCall& call, const Type* known, const Type* expected) {
  if (!known->isTensor() || known->dtype != expected->dtype ||
      known->shape.size() != expected->shape.size())
    return true;
  for (size_t i = 0; i < known->shape.size(); ++i)
    if (call.differ(known->shape[i], expected->shape[i]))
      return true;
  return false;
}

} // namespace

bool demandOperand(const RelationCall& call, RelationResult& result, size_t i,
                   std::string_view name, const Type* expected) {
  if (call.isKnown(i) && surelyDiffers(call, call.operands[i], expected)) {
    result = call.failedAt(
        i, words("`{}` must be `{}`, but it is `{}`", name, expected, call.operands[i]));
    return false;
  }
  result.operands.emplace_back(i, expected);
  return true;
}

namespace {

std::string elementsText(const Dim* count) {
  return count->isConstant() ? counted(count->value, "element")
                             : lang::dimText(count) + " elements";
}

} // namespace

bool demandVector(const RelationCall& call, RelationResult& result, size_t i, std::string_view name,
                  size_t axis) {
  const Dim* extent = call.shape(0)[axis];
  const Type* expected = call.types.tensor({extent}, call.dtype(0));
  bool isVector = call.isKnown(i) && call.operands[i]->isTensor() && call.rank(i) == 1;
  if (!isVector || call.dtype(i) != call.dtype(0) || !call.differ(call.shape(i)[0], extent))
    return demandOperand(call, result, i, name, expected);
  result = call.failedOn({{i, 0}, {0, axis}},
                         fmt::format("`{}` has {}, but `data` has {} along axis {}", name,
                                     elementsText(call.shape(i)[0]), lang::dimText(extent), axis));
  return false;
}

bool cannotBe(const RelationCall& call, const Dim* dim, int64_t size) {
  return call.differ(dim, call.types.constant(size));
}

const Dim* offsetDim(lang::TypeContext& types, const Dim* dim, int64_t offset) {
  if (!dim->isConstant())
    return types.add(dim, types.constant(offset));
  int64_t sum = 0;
  if (__builtin_add_overflow(dim->value, offset, &sum) || sum < 0)
    return nullptr;
  return types.constant(sum);
}

const Dim* scaledDim(lang::TypeContext& types, const Dim* dim, int64_t factor) {
  int64_t scaled = 0;
  if (dim->isConstant() && __builtin_mul_overflow(dim->value, factor, &scaled))
    return nullptr;
  return types.multiply(dim, types.constant(factor));
}

bool isOneOf(std::string_view text, std::initializer_list<std::string_view> choices) {
  return std::ranges::find(choices, text) != choices.end();
}

RelationResult choiceFailure(const RelationCall& call, std::string_view attribute,
                             std::string_view choices) {
  return call.failed(fmt::format("`{}` must be {}, but it is `{}`", attribute, choices,
                                 call.attributes.text(attribute)));
}

} // namespace stdlib
