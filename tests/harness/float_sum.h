// What derivatives and their quotients are compared by.
#pragma once

#include "interp/real.h"
#include "runtime/value.h"

namespace harness {

/// All floats in a value that has no functions in it, as reals of the precision at hand where the
/// run computed with such.
interp::Real floatSum(const runtime::Value& value);

} // namespace harness
