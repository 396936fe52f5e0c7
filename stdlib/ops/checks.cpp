// Checks of axes, side operands and extents that the neural-network families share.
#include "stdlib/ops/checks.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using lang::Dim;
using lang::RelationCall;
using lang::RelationResult;
using lang::Type;

RelationResult axisFailure(const RelationCall& call, std::string_view attribute, int64_t axis,
                           size_t operand) {
  size_t rank = call.rank(operand);
  if (rank == 0)
    return call.failedAt(operand,
                         fmt::format("`{}={}` names a dimension of a scalar", attribute, axis));
  return call.failedAt(operand, fmt::format("`{}={}` is outside -{} .. {}, the dimensions of `{}`",
                                            attribute, axis, rank, rank - 1,
                                            lang::typeText(call.operands[operand])));
}

namespace {

bool surelyDiffers(const Type* known, const Type* expected) {
  if (!known->isTensor() || known->dtype != expected->dtype ||
      known->shape.size() != expected->shape.size())
    return true;
  for (size_t i = 0; i < known->shape.size(); ++i)
    if (lang::matchDims(known->shape[i], expected->shape[i]) == lang::DimMatch::Different)
      return true;
  return false;
}

} // namespace

bool demandOperand(const RelationCall& call, RelationResult& result, size_t i,
                   std::string_view name, const Type* expected) {
  if (call.isKnown(i) && surelyDiffers(call.operands[i], expected)) {
    result =
        call.failedAt(i, fmt::format("`{}` must be `{}`, but it is `{}`", name,
                                     lang::typeText(expected), lang::typeText(call.operands[i])));
    return false;
  }
  result.operands.emplace_back(i, expected);
  return true;
}

const Dim* offsetDim(lang::TypeContext& types, const Dim* dim, int64_t offset) {
  if (!dim->isConstant())
    return types.add(dim, types.constant(offset));
  int64_t sum = 0;
  if (__builtin_add_overflow(dim->value, offset, &sum) || sum < 0)
    return nullptr;
  return types.constant(sum, dim->is64);
}

const Dim* scaledDim(lang::TypeContext& types, const Dim* dim, int64_t factor) {
  int64_t scaled = 0;
  if (dim->isConstant() && __builtin_mul_overflow(dim->value, factor, &scaled))
    return nullptr;
  return types.multiply(dim, types.constant(factor));
}

std::string alongAxisText(std::string_view vector, size_t axis, size_t rank) {
  if (axis + 1 >= rank)
    return std::string(vector);
  return fmt::format("expand_dims({}, axis=1, num_newaxis={})", vector, rank - axis - 1);
}

std::string summedExceptText(std::string_view text, size_t axis, size_t rank) {
  if (rank == 1)
    return std::string(text);
  return fmt::format("sum({}, axis=[{}], exclude=True)", text, axis);
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
