// The factors of a sum of products, and the loops that each hangs on.
#pragma once

#include "codegen/strips/compile/flat.h"

#include <set>

namespace strips {

/// The operation that multiplies the factors of what a statement joins, or none: a product as it
/// is, or one of floats that is added up in a wider type.
uint32_t productOf(const loops::Statement& statement);

/// The names in the positions that a factor, an operation of a statement, is made of.
std::set<Name> namesOf(const Nest& nest, const loops::Statement& statement, uint32_t factor);

/// The names of both factors.
struct FactorAxes {
  FactorAxes(const Nest& nest, const loops::Statement& statement);
  std::set<Name> left, right;
};

} // namespace strips
