// Where numbers need their types in the text.
#pragma once

#include "lang/ir/typing.h"
#include "lang/ir/walk.h"

namespace parser::restoring {

/// Whether a number of a definition might take another type than the default one: where one goes,
/// by way of values that have no type from elsewhere, into a call that also takes something of
/// another element type, or an integer into one that means reals.
bool mixesNumbers(const lang::Block& body, const lang::Typing& typing);

} // namespace parser::restoring
