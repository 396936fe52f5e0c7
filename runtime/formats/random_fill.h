// The reproducible fill of parameters by seed: a counter, hashed with the finaliser of splitmix64.
//
// Every element depends only on the seed, the parameter's number and its own index. All reals are
// doubles and there is one rounding, to the element type, at the end. Unlike the usual generator,
// nothing is added to the counter before the hash.
#pragma once

#include "runtime/result.h"
#include "runtime/tensor.h"

#include <cstdint>

namespace formats {

/// The uniform number in [0, 1), a multiple of 2^-24, of element `index` of a parameter.
double uniformAt(uint64_t seed, uint64_t parameterNumber, uint64_t index);

/// Fills a parameter: floats of rank 2 and above with variance 1/P where P is the product of all
/// extents but the first, other floats in [0.5, 1.5), integers 0 to 9, bools evenly. An error when
/// the element type cannot be computed with or the memory cannot be had.
runtime::Result<runtime::Tensor> randomTensor(runtime::DType dtype, runtime::Shape shape,
                                              uint64_t seed, uint64_t parameterNumber);

} // namespace formats
