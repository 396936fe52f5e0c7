// Fixes for convolutions that were refused: layouts, a missing batch axis, groups, sizes.
#pragma once

#include "stdlib/ops/fixes.h"

namespace stdlib {

/// A fix of a convolution over `dims` spatial dimensions that makes `relation` hold.
Fix convFix(const lang::RelationCall& call, Relation relation, size_t dims);

/// As convFix, for pools: of data in the attribute `layout`, operand 0.
Fix poolFix(const lang::RelationCall& call, Relation relation, size_t dims);

} // namespace stdlib
