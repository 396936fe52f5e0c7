// What a relation says of operands, besides the result: each one that it tells must have that type.
#pragma once

#include "lang/op/declared.h"
#include "lang/types/type.h"

namespace lang {

/// The problem that operand `i` of a call has not the type that the relation wants.
std::string demandProblem(const OperatorRow& row, size_t i, const Type* wanted, const Type* given);

} // namespace lang
