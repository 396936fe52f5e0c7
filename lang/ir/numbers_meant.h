// Calls in which integers and truth values hardly mean what they are.
#pragma once

#include "lang/ir/expr.h"
#include "lang/op/op.h"

namespace lang {

/// Whether a call of an operator is likely to mean reals where its operands are integers.
bool meansReals(const OperatorRow& row, std::span<const Operand> operands);

} // namespace lang
