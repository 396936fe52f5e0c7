// Operators by what other libraries, and other languages, call them.
#pragma once

#include "lang/op/declared.h"

#include <string_view>
#include <vector>

namespace lang {

/// The first operator of which `name` is a synonym, such as `unsqueeze` or `[]`; null if none is.
const OperatorRow* calledElsewhere(const OperatorTable& operators, std::string_view name);

/// How a call by a name of another library, with one argument, is written in Baton's notation: the
/// forms that it may mean, in which `$` is the argument. Empty for other names.
std::vector<std::string_view> formsElsewhere(std::string_view name);

/// What a call of an operator with so many arguments by position means in Baton's notation where it
/// gives too few of them: arguments that blanks part, `$` for the next one, numbers, those with a
/// name, and `number` for the element type of the numbers. Empty where it means nothing.
std::string_view shortCall(std::string_view name, size_t count);

/// What the name of an operator means where it is given two tensors, as `max` elsewhere; null where
/// it means nothing else.
const OperatorRow* ofTwo(const OperatorTable& operators, const OperatorRow& row);

/// Whether Relay's text has an infix spelling; others are of Baton's notation alone.
bool isRelayInfix(std::string_view symbol);

} // namespace lang
