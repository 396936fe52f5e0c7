// Operators by what other libraries, and other languages, call them.
#pragma once

#include "lang/op/declared.h"

#include <string_view>

namespace lang {

/// The first operator of which `name` is a synonym, such as `unsqueeze` or `[]`; null if none is.
const OperatorRow* calledElsewhere(const OperatorTable& operators, std::string_view name);

/// Whether Relay's text has an infix spelling; others are of Baton's notation alone.
bool isRelayInfix(std::string_view symbol);

} // namespace lang
