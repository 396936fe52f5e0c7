// Attributes that a call gives by position, as other languages write them: `sum(%x, 1)`.
//
// Both who resolves names and who infers types meet such calls, each with its own form of a
// program, so they tell the forms of the arguments in the terms of this file.
#pragma once

#include "lang/op/declared.h"
#include "lang/op/relation.h"

#include "lang/source/diagnostic.h"

namespace lang {

/// What an argument looks like; a tuple of numbers often stands where a list is meant.
enum class ArgumentForm : uint8_t { Other, Int, Bool, Float, IntList, IntTuple, IntListList };

/// An argument beyond the operands of an operator.
struct ExtraArgument {
  SourceRange range;
  ArgumentForm form = ArgumentForm::Other;
};

/// Suggests names for the extra arguments of a call, which ends at `end`: attributes of `row` that
/// are not `given` and may have such values, those without a default first. What must be given and
/// is not is added where its value can be told.
std::vector<Suggestion> namedArguments(const OperatorRow& row, const std::vector<bool>& given,
                                       std::span<const ExtraArgument> extra, uint32_t end);

} // namespace lang
