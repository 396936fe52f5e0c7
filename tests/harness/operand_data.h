// Which values the operands of random calls hold.
//
// Whole numbers are drawn from a few small ones, so that they are positions and sizes that fit now
// and then; floats are multiples of an eighth, so that short sums and products of them are exact.
#pragma once

#include "lang/types/type.h"
#include "runtime/tensor.h"
#include "tests/harness/random.h"

#include <vector>

namespace harness {

/// A kind of data. `Positions` are not negative, `Sorted` are positions that ascend along the last
/// dimension, `Signed` have both signs, `Special` are the ends of the element type, zeros of both
/// signs, infinities, NaN, halves, and many equal ones.
enum class Data : uint8_t { Zeros, Positions, Sorted, Signed, Special };
inline constexpr Data allData[] = {Data::Zeros, Data::Positions, Data::Sorted, Data::Signed,
                                   Data::Special};

/// Fills a tensor; no number of `Positions`, `Sorted` and `Signed` is larger than `most`.
void fillTensor(runtime::Tensor& tensor, Data data, Random& random, int64_t most = 3);

/// Writes numbers as elements of the tensor's type, in row-major order.
void writeNumbers(runtime::Tensor& tensor, std::span<const double> values);

/// A tensor per leaf of each operand type, fields of tuples in order. The types have numbers for
/// extents, and the harness can compute with them.
std::vector<runtime::Tensor> operandLeaves(lang::Types operands, Data data, Random& random);

} // namespace harness
