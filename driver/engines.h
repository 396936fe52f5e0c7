// What `baton run` can evaluate tensor expressions with.
#pragma once

#include "lang/tensor_engine.h"
#include "runtime/result.h"

#include <string>

namespace driver {

/// What evaluates tensor expressions in the engine of that name; an empty one stands for the default,
/// which is `interp` when there is a precision and `vm` otherwise. The error says which there are, or that only `interp` computes
/// with `digits` decimal digits.
runtime::Result<lang::TensorEngine> engineOf(const std::string& name, unsigned digits);

} // namespace driver
