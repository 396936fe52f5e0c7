// Jacobians: the derivative of each element of a value by each element of arguments, one row or one
// column after the other.
//
// In reverse mode a row is what the pull-back makes of a vector of the standard basis: one for each
// element of the value. In forward mode a column is the tangent along such a vector: one for each
// element of the arguments. The former computes the value once, so it is the better one where there
// are as many of both.
//
// Values and arguments may be tensors, or tuples and records of them: the result has a tuple in the
// place of each, and a tensor for each pair of tensors inside.
#pragma once

#include "lang/ir/builder.h"
#include "lang/ir/typing.h"

namespace transform {

/// The type of the function that a derivative is asked of.
const lang::Type& functionType(lang::TypeContext& types, const lang::Call& call,
                               const lang::Typing& typing);

/// Whether the arguments that a Jacobian is asked for surely hold fewer floats than the value.
bool hasFewerInputs(lang::TypeContext& types, const lang::Call& call, const lang::Typing& typing);

/// The function that the call of a Jacobian stands for, in terms of pull-backs or tangents.
const lang::Expr* jacobian(lang::Builder& make, const lang::Typing& typing, const lang::Call& call,
                           bool isForward);

} // namespace transform
