// Running one operator by itself, without a program around it.
#pragma once

#include "codegen/strips/compile/sized.h"
#include "lang/op/leaves.h"
#include "lang/op/op.h"
#include "runtime/tensor.h"

#include <optional>

namespace harness {

/// Appends the tensor types inside an operand or result type, fields of tuples in order; false when
/// one has an extent that is no number, or more elements than the harness cares to compute.
bool appendLeafTypes(const lang::Type* type, std::vector<const lang::Type*>& leaves);

/// What a call gave: its tensors, or why there are none.
struct OperatorRun {
  std::vector<runtime::Tensor> results = {};
  std::string problem = {};
};

/// Runs a call that the relation accepted with result type `output`; nothing when the result is too
/// large to be computed here.
std::optional<OperatorRun> runOperator(const lang::OperatorRow& row, const lang::RelationCall& call,
                                       const lang::Type* output,
                                       std::span<const runtime::Tensor> leaves,
                                       const tensor::TensorEngine& engine = strips::stripsEngine());

/// The tensor expression of such a call; nothing for a native function and where the result is too
/// large.
std::optional<tensor::TensorFunction> operatorFunction(const lang::OperatorRow& row,
                                                       const lang::RelationCall& call,
                                                       const lang::Type* output);

} // namespace harness
