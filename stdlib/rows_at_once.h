// Rows as one tensor and apart again (the pass `batch-steps`).
#pragma once

#include "lang/ir/builder.h"

#include <vector>

namespace stdlib {

/// Tensors of one shape, behind each other along the first dimension.
const lang::Var* joinedRows(lang::BlockBuilder& out, const std::vector<lang::Atom>& rows);
/// The parts of a tensor, so many of one size along the first dimension.
std::vector<lang::Atom> splitRows(lang::BlockBuilder& out, lang::Atom joined, size_t count);

} // namespace stdlib
