// From a program that shows a fault to a small one that shows the same fault.
#pragma once

#include "tests/harness/program.h"

#include <functional>

namespace harness {

/// The smallest program found within `tries` questions that `stillFails` says yes to. Everything
/// that is asked about binds the names that it uses; `program` itself is taken to fail.
Program shrunk(const Program& program, const std::function<bool(const Program&)>& stillFails,
               size_t tries = 600);

} // namespace harness
