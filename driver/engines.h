// What `baton run` can evaluate tensor expressions with.
#pragma once

#include "lower/tensor/engine.h"
#include "runtime/result.h"

#include <string>

namespace driver {

/// What is said of a name that no engine has.
std::string noEngine(const std::string& name);

/// Whether the engine of that name is the machine.
bool isMachine(const std::string& name);

/// What evaluates tensor expressions in the engine of that name; an empty one stands for the
/// default, which is `interp` when there is a precision and `vm` otherwise. The error says which
/// there are, or that only `interp` computes with `digits` decimal digits.
runtime::Result<tensor::TensorEngine> engineOf(const std::string& name, unsigned digits);

} // namespace driver
