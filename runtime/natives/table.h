// All native functions, by name. One file has one family.
#pragma once

#include "runtime/native.h"

namespace natives {

std::span<const runtime::Native* const> table();

/// The function of a name, or null.
const runtime::Native* find(std::string_view name);

} // namespace natives
