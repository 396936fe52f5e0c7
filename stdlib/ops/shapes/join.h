// Joining tensors along a dimension, for operators that do so with what they make of their
// operands.
#pragma once

#include "lang/op/compute.h"
#include "lang/op/relation.h"

namespace stdlib {

/// The relation of joining the fields of operand 0 along the attribute `axis`.
lang::RelationResult concatenateRelation(const lang::RelationCall& call);

/// Names the next result: `fields` behind each other along `axis`.
void resultJoined(lang::ComputeCall& call, const std::vector<lang::TensorHandle>& fields,
                  size_t axis);

} // namespace stdlib
