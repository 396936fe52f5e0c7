// Gradients of the convolution family, as source text.
//
// A convolution, the transposed one and the gradient by the weight are the partial derivatives of
// one trilinear form, so each rule is written with the other two operators.
#pragma once

#include "lang/relation.h"

namespace stdlib {

/// The rule of nn.conv{dims}d.
std::string convGradient(const lang::RelationCall& call, size_t dims);

/// The rule of nn.conv{dims}d_transpose.
std::string convTransposeGradient(const lang::RelationCall& call, size_t dims);

/// The rule of nn.conv{dims}d_backward_weight.
std::string convBackwardWeightGradient(const lang::RelationCall& call, size_t dims);

} // namespace stdlib
