// Fixes for operators that rearrange, join and split tensors, and for axes.
#pragma once

#include "stdlib/ops/fixes.h"

namespace stdlib {

/// Numbers for `newshape` near to what is there that keep the count of elements.
Fixes reshapeFix(const lang::RelationCall& call, Relation relation);

/// The axes of extent 1 for `axis`.
Fix squeezeFix(const lang::RelationCall& call, Relation relation);

/// Permutations near to `axes`, which misses or repeats an axis.
Fixes permutationFix(const lang::RelationCall& call, Relation relation);

/// Another `axis` for fields that differ along it, or an axis for a field that misses one.
Fixes joinFix(const lang::RelationCall& call, Relation relation);

/// Numbers of parts that divide the extent, or cut points, in place of `count` parts.
Fixes splitFix(const lang::RelationCall& call, Relation relation, int64_t extent, int64_t count);

/// The one other `axis` with which the relation holds.
Fix otherAxisFix(const lang::RelationCall& call, Relation relation);

/// As otherAxisFix, or the length that the vectors called `names`, operands 1 and on, must have.
Fixes vectorFix(const lang::RelationCall& call, Relation relation,
                std::span<const std::string_view> names);

/// `pad_width` with a pair of zeros for each of the first dimensions that have none.
Fix padWidthFix(const lang::RelationCall& call, Relation relation);

} // namespace stdlib
