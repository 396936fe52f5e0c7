// Checks of axes, side operands and extents that the neural-network families share.
//
// Extents may be `?`, symbols or linear forms: a check fails only on what is surely wrong, and runs
// again on plain numbers at run time. Texts of problems do not name the operator.
#pragma once

#include "lang/op/relation.h"

#include <initializer_list>

namespace stdlib {

/// The failure of an operator whose `attribute` names dimension `axis` of operand `operand`, which
/// has no such dimension.
lang::RelationResult axisFailure(const lang::RelationCall& call, std::string_view attribute,
                                 int64_t axis, size_t operand = 0);

/// As above, for an axis among `rank` ones.
lang::RelationResult axisFailureIn(const lang::RelationCall& call, std::string_view attribute,
                                   int64_t axis, size_t rank);

/// Demands that operand `i`, called `name`, has the type `expected`: notes it in `result`, which a
/// checker unifies, or turns `result` into a failure and returns false when the known type surely
/// differs.
bool demandOperand(const lang::RelationCall& call, lang::RelationResult& result, size_t i,
                   std::string_view name, const lang::Type* expected);

/// As above: a vector as long as operand 0, `data`, along `axis`, with the same element type.
bool demandVector(const lang::RelationCall& call, lang::RelationResult& result, size_t i,
                  std::string_view name, size_t axis);

/// True when the dimension cannot be `size` always: another number, or a name that stands for more.
bool cannotBe(const lang::RelationCall& call, const lang::Dim* dim, int64_t size);

/// `dim + offset`; null when that is a number that is negative or does not fit.
const lang::Dim* offsetDim(lang::TypeContext& types, const lang::Dim* dim, int64_t offset);

/// `dim * factor`; null when that is a number that does not fit.
const lang::Dim* scaledDim(lang::TypeContext& types, const lang::Dim* dim, int64_t factor);

/// True when `text` is one of the choices.
bool isOneOf(std::string_view text, std::initializer_list<std::string_view> choices);

/// The failure of a string attribute that has none of its values; `choices` is a text such as
/// "`avg` or `max`".
lang::RelationResult choiceFailure(const lang::RelationCall& call, std::string_view attribute,
                                   std::string_view choices);

} // namespace stdlib
