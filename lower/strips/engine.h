// The loops engine: tensor functions planned as nests of loops over strips of elements.
//
// plan.h says what becomes of a function, runner.h how that runs. Sums and products differ
// from those of the reference (interp/reference.h) in their order alone: see plan_contract.h.
#pragma once

#include "lower/tensor/engine.h"

namespace lower {

tensor::TensorEngine loopsEngine();

} // namespace lower
