// What gradient rules of products share. A product is linear in each of its factors, so its
// derivative is a product of the others, and nothing is divided and nothing hangs on which factors
// are zero: such a rule can be differentiated again, at zeros too.
#pragma once

#include "stdlib/ops/gradient.h"

namespace stdlib {

/// Moved along a dimension towards its end; where elements are missing they are `value`.
Term shifted(const Term& a, size_t axis, int64_t by, double value = 0);
/// The products of the other elements along a dimension.
Term productOfOthers(const Term& a, size_t axis);
/// result[i] = factors[i] * result[i - 1] + terms[i] along a dimension, or with `isReverse`
/// result[i] = factors[i + 1] * result[i + 1] + terms[i].
Term recurrence(const Term& factors, const Term& terms, size_t axis, bool isReverse);

} // namespace stdlib
