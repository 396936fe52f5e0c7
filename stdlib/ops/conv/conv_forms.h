// Convolutions for operators that get their operands in another form, such as packed or quantized:
// the relations of the plain ones, and their results from tensors that such an operator defined.
#pragma once

#include "stdlib/ops/conv/conv_call.h"

namespace stdlib {

/// The relation of nn.conv{dims}d on operands 0 and 1.
lang::RelationResult convRelation(const lang::RelationCall& call, size_t dims);

/// The relation of nn.conv{dims}d_transpose on operands 0 and 1.
lang::RelationResult convTransposeRelation(const lang::RelationCall& call, size_t dims);

/// Defines the convolution of `data` and `weight`, which are in the layouts that `conv` says.
void convResult(lang::ComputeCall& call, const ConvAttributes& conv, lang::TensorHandle data,
                lang::TensorHandle weight);

/// As convResult, for the transposed convolution.
void convTransposeResult(lang::ComputeCall& call, const ConvAttributes& conv,
                         lang::TensorHandle data, lang::TensorHandle weight);

} // namespace stdlib
