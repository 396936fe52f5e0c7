// What the language ships with: the operator table and the prelude.
//
// stdlib/ops/ holds the operators, one row each; stdlib/*.rly what is written in the language
// itself. Nothing here registers itself: operatorTable() is the list.
#pragma once

#include "lang/op/op.h"

namespace stdlib {

/// The table of all operators, made on the first call.
const lang::OperatorTable& operatorTable();

/// The operators of Relay that the table leaves out.
std::span<const lang::AbsentOperator> absentOperators();

/// How many operators Relay registers, in TVM 0.19.
inline constexpr size_t relayOperatorCount = 298;

} // namespace stdlib
