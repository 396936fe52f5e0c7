// What attributes are, in words.
#pragma once

#include "lang/op/attributes.h"

#include <string>

namespace parser {

/// What an attribute of a kind must be: "a list of integers".
std::string_view kindText(lang::AttributeKind kind);

/// What a value is: "the integer 3".
std::string valueText(const lang::AttributeValue& value);

} // namespace parser
