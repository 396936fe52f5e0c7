// Groups: functions that are marked `Primitive=1`, as Relay has them. Their operators are computed
// together, by one tensor function.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"
#include "lower/tensor/expression.h"

#include <optional>

namespace lang {

/// Whether the function says that it is one.
bool isGroup(const Function& function);

/// One tensor function for all operators of a function: from the tensors in its parameters to those
/// in its result. Nothing where an operator computes no tensors from tensors, where a shape hangs
/// on values, or where a size does not follow from those of the parameters.
std::optional<tensor::TensorFunction> groupFunction(const Function& function, const Typing& typing);

/// The same for bindings of a block, from the tensors in these variables and constants to those in
/// `result`.
std::optional<tensor::TensorFunction> groupFunction(std::span<const Expr* const> inputs,
                                                    std::span<const Binding> bindings,
                                                    const Expr& result, const Typing& typing);

} // namespace lang
