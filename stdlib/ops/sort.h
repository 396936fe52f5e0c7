// What `topk` and `dyn.topk` share.
#pragma once

#include "lang/op.h"

namespace stdlib {

/// The type of the `k` first elements along the axis attribute, as `ret_type` asks; a null `k`
/// keeps all.
lang::RelationResult topkResult(const lang::RelationCall& call, const lang::Dim* k);

/// What selecting needs to know; a `k` below 1 keeps all.
struct TopkParameters {
  size_t axis;
  int64_t k;
  bool isAscending, wantsValues, wantsIndices;
  runtime::DType dtype;
};

TopkParameters decodeTopk(const lang::Attributes& attributes, lang::Types operands);

/// Selects the `k` first elements of the first input.
runtime::KernelFault topkOf(const runtime::KernelCall& call, const TopkParameters& parameters,
                            int64_t k);

/// The rule of topk, where `k` may be an operand: the cotangents of the values go to their places.
void topkGradient(lang::GradientCall& d);

} // namespace stdlib
