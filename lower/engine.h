// The loops engine: tensor functions planned as nests of loops over strips of elements.
//
// plan.h says what becomes of a function, tensor_eval.h how that runs.
#pragma once

#include "lang/tensor_engine.h"
#include "lower/array.h"

namespace lower {

lang::TensorEngine loopsEngine(Precision precision = {});

/// One element in decimal with all its digits, of a value with reals.
std::string realText(const runtime::Value& value, int64_t flat);

} // namespace lower
