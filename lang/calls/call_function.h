// Calls of operators as tensor functions, over the types that the checker found.
#pragma once

#include "lang/ir/typing.h"
#include "lang/op/compute.h"
#include "lang/op/declared.h"
#include "lower/tensor/expression.h"

#include <optional>

namespace lang {

/// Whether an operator is a tensor function for known types: it computes by an expression, and the
/// sizes of its result follow from those of its operands.
bool isTensorFunction(const OperatorRow& row);

/// The row of the operator that a value calls, if it is such a one, or null.
const OperatorRow* tensorFunctionRow(const Expr& value);

/// The tensor expression of a call of an operator whose result has this type; nothing for any other
/// call, and where types leave the form of the expression open.
std::optional<TensorFunction> functionOfCall(const Call& call, const Type* result,
                                             const Typing& typing);

} // namespace lang
