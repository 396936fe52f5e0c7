// All places of a program in source texts.
#pragma once

#include "vm/executable/executable.h"

#include <functional>

namespace executable {

/// Calls `visit` with each place, which it may change.
void forEachRange(Executable& executable, const std::function<void(runtime::SourceRange&)>& visit);

} // namespace executable
