// Nests from their texts.
#pragma once

#include "lower/loops/nest.h"
#include "runtime/result.h"

namespace loops {

/// The nest of a text as textOf() writes it, or what is wrong, after its line and column. What it
/// says is not looked at: see verify.h.
runtime::Checked<Nest> nestOf(std::string_view text);

} // namespace loops
