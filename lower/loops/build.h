// From tensor functions to nests as they stand: loops for each stage, sums in accumulators.
#pragma once

#include "lower/loops/nest.h"
#include "runtime/result.h"

namespace loops {

/// The nest that makes the results of a function. `start` has its name, its sizes, and a buffer for
/// each input and then for each result, which say what the extents of the function are. Why there
/// is no nest is a matter of the function: an extent that is no form, sums nested too deep.
runtime::Checked<Nest> nestOf(const tensor::TensorFunction& function, Nest start);

} // namespace loops
