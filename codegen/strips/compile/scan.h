// Sums and products so far: statements that read what they made one step before.
#pragma once

#include "codegen/strips/compile/flat.h"

namespace strips {

/// The operations of a statement that makes each element of the one before it along the variable of
/// a loop and of something else.
struct ScanStep {
  uint32_t before, next;
  bool multiplies;
};

std::optional<ScanStep> scanOf(Nest& nest, const loops::Statement& statement, Name variable);

} // namespace strips
