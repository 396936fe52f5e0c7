// A negative exponent is one that stands in the call.
#include "lang/ir/numbers_meant.h"

#include <algorithm>
#include <cstring>

namespace lang {

namespace {

bool isBelowZero(const Constant& constant, uint64_t bits) {
  if (constant.open != OpenNumber::None)
    return int64_t(bits) < 0;
  runtime::DType dtype = constant.type->dtype;
  return (dtype.isSigned() || dtype.isFloat()) && (bits >> (dtype.bits - 1) & 1) != 0;
}

/// Whether an element of a constant is negative; of an open one the bits are those of 64.
bool holdsNegative(const Constant& constant) {
  if (!constant.tensor)
    return isBelowZero(constant, constant.bits);
  size_t width = constant.tensor->dtype().bytes();
  for (int64_t i = 0; i < constant.tensor->size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, constant.tensor->bytes() + size_t(i) * width, std::min(width, sizeof(bits)));
    if (isBelowZero(constant, bits))
      return true;
  }
  return false;
}

} // namespace

bool meansReals(const OperatorRow& row, std::span<const Operand> operands) {
  if (row.numbersMeant != NumbersMeant::RealsOfNegativePowers)
    return row.numbersMeant == NumbersMeant::Reals;
  const auto* exponent = operands.size() > 1 ? operands[1].value->as<Constant>() : nullptr;
  return exponent && holdsNegative(*exponent);
}

} // namespace lang
