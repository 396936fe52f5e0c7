// What attributes are, in words.
#pragma once

#include "lang/op/attributes.h"
#include "lang/source/source.h"

namespace parser {

/// What an attribute of a kind must be: "a list of integers".
lang::Words kindText(lang::AttributeKind kind);

/// What a value is: "the integer 3".
lang::Words valueText(const lang::AttributeValue& value);

} // namespace parser
