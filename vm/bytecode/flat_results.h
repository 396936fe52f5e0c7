// Which functions end with the fields of a tuple instead of the tuple.
#pragma once

#include "lang/calls/boundary.h"
#include "lang/ir/module.h"
#include "lang/ir/typing.h"

namespace bytecode {

/// A tuple of more fields stays an object.
inline constexpr size_t mostFlatFields = 8;

/// By Global::number: whether a call by name gives the fields of its tuple in registers. It does
/// when every way through the function ends with a new tuple, or with a tail call of a function
/// that does so too. Where somebody else would lose a tail call by it that closes a cycle, it does
/// not: recursion must not begin to take room. Nor does an entry.
std::vector<bool> findFlatResults(const lang::Module& module, const lang::Typing& typing,
                                  const lang::Boundaries& boundaries,
                                  std::span<const lang::Global* const> entries);

} // namespace bytecode
