// Products of matrices for operators that get their operands in another form, such as quantized:
// the relations of the plain ones, and their results from tensors that such an operator defined.
#pragma once

#include "lang/op/compute.h"
#include "lang/op/relation.h"

namespace stdlib {

/// The relations of nn.dense, nn.batch_matmul and nn.contrib_dense_pack on operands 0 and 1.
lang::RelationResult denseRelation(const lang::RelationCall& call);
lang::RelationResult batchMatmulRelation(const lang::RelationCall& call);
lang::RelationResult packedDenseRelation(const lang::RelationCall& call);

/// Defines the product of `data`, converted to the type of the result, and `weight`, likewise, as
/// nn.dense and its kin do.
void denseResult(lang::ComputeCall& call, lang::TensorHandle data, lang::TensorHandle weight);
void batchMatmulResult(lang::ComputeCall& call, lang::TensorHandle x, lang::TensorHandle y);
void packedDenseResult(lang::ComputeCall& call, lang::TensorHandle data, lang::TensorHandle weight);

} // namespace stdlib
