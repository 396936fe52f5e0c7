// What a relation says of operands, besides the result: each one that it tells must have that type.
#pragma once

#include "lang/types/type.h"

namespace lang {

/// The problem that an operand of an operator has not the type that the relation wants.
Words demandProblem(std::string_view operand, std::string_view op, const Type* wanted,
                    const Type* given);

} // namespace lang
