// `x[mask]`: truth values in brackets, which read what stands where they are true.
#pragma once

#include "lang/ir/builder.h"
#include "lang/op/relation.h"
#include "typecheck/unify.h"

namespace typecheck {

/// Whether positions in brackets are truth values.
bool isMask(const Type* positions);

/// What a read gives whose positions are truth values: they have the shape of the dimensions of the
/// tensor that they are about, of which is left how many are true.
lang::RelationResult maskedRelation(const lang::RelationCall& call, Unifier& unifier);

/// The code of a read of `x` where `mask`, of a rank, is true, written into `out`.
const lang::Expr* maskedRead(lang::Builder& make, lang::BlockBuilder& out, lang::Atom x,
                             lang::Atom mask, size_t rank, int64_t axis);

} // namespace typecheck
