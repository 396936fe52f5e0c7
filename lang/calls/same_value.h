// Whether values of different modules are the same, in their first ten million parts.
#pragma once

#include "runtime/value.h"

namespace lang {

/// Bits of tensors and names of constructors are the same. Functions count as the same, as a pass
/// may write what one does into another.
bool sameValue(const runtime::Value& left, const runtime::Value& right);

/// As `sameValue`, but zeros of both signs are the same number, and so is every NaN: what passes
/// keep (transform/analysis/effects.h).
bool sameNumbers(const runtime::Value& left, const runtime::Value& right);

/// As `sameNumbers`, but floats may differ by what some roundings of the largest number in their
/// tensor come to: what is computed in another order.
bool nearNumbers(const runtime::Value& left, const runtime::Value& right);

} // namespace lang
