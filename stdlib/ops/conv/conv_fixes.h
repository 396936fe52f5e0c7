// Fixes for convolutions that were refused: layouts, a missing batch axis, groups, sizes.
#pragma once

#include "stdlib/ops/fixes.h"

namespace stdlib {

/// Fixes of a convolution over `dims` spatial dimensions that make `relation` hold.
Fixes convFix(const lang::RelationCall& call, Relation relation, size_t dims);

/// As convFix, for pools: of data in the attribute `layout`, operand 0.
Fixes poolFix(const lang::RelationCall& call, Relation relation, size_t dims);

} // namespace stdlib
