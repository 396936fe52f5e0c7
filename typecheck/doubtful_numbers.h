// Integers and truth values where others are likely to be meant.
#pragma once

#include "lang/source/diagnostic.h"
#include "typecheck/pending_relation.h"
#include "typecheck/shape_report.h"

namespace typecheck {

/// Warns of a call of known operands whose result has no use for them as they are: integers that a
/// function of reals is given, truth values that are added up.
void doubtNumbers(const PendingRelation& relation, std::span<const Type* const> operands,
                  Definitions values, lang::Diagnostics& diagnostics);

} // namespace typecheck
