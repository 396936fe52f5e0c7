// Shapes for messages: which rows a table has, what is marked, and where each value came from.
//
// A table is for reading, so it is bounded whatever the program holds: no shape of absurd rank, no
// more than `mostShapeRows` rows.
#pragma once

#include "lang/ir/expr.h"
#include "lang/op/declared.h"
#include "lang/op/relation.h"
#include "lang/source/diagnostic.h"

namespace typecheck {

inline constexpr size_t mostShapeRows = 1000;

/// By Var::number: the value that a binding gave the variable, or null. Variables that are not
/// bound by a block may lie beyond its end.
using Definitions = std::span<const lang::Expr* const>;

/// The shapes of the tensors of an operator call that failed, with the marks of the relation; the
/// fields of a tuple operand are rows of their own. Empty when there is no tensor.
lang::ShapeTable operandShapes(const lang::OperatorRow& row,
                               std::span<const lang::Operand* const> places, lang::Types operands,
                               const lang::RelationResult& result, Definitions definitions);

/// True for the operands of a call of `count` that a message about it shows: of three and more,
/// only those that clash, if any do.
bool isShown(const lang::RelationResult& result, size_t operand, size_t count);

/// Adds both types to a report, the differing dimensions marked, when they are tensors of one rank.
void showMismatch(lang::Diagnostic& report, const lang::Type* expected, const lang::Type* found);

} // namespace typecheck
