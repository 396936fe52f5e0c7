// What `topk` and `dyn.topk` share.
#pragma once

#include "lang/op/op.h"
#include "runtime/natives/sort.h"

namespace stdlib {

/// The type of the `k` first elements along the axis attribute, as `ret_type` asks; a null `k`
/// keeps all.
lang::RelationResult topkResult(const lang::RelationCall& call, const lang::Dim* k);

natives::TopkParameters decodeTopk(const lang::Attributes& attributes, lang::Types operands);

/// The rule of topk, where `k` may be an operand: the cotangents of the values go to their places.
void topkGradient(lang::GradientCall& d);

} // namespace stdlib
