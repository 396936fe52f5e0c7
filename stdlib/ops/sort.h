// What `topk` and `dyn.topk` share.
#pragma once

#include "lang/op.h"

namespace stdlib {

/// The type of the `k` first elements along the axis attribute, as `ret_type` asks; a null `k`
/// keeps all.
lang::RelationResult topkResult(const lang::RelationCall& call, const lang::Dim* k);

/// Selects the `k` first elements of the first input; a `k` below 1 keeps all.
lang::KernelResult topkOf(const lang::KernelCall& call, int64_t k);

/// The gradient with respect to the data, where `indices` is the text of the operator when it
/// returns indices alone.
std::string topkGradientText(const lang::RelationCall& call, std::string_view indices);

} // namespace stdlib
