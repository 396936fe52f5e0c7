// Sums of products: found, taken out of the loops that need them, and made instructions.
#pragma once

#include "codegen/strips/compile/statement.h"

namespace strips {

/// Moves sums of products of two factors out of the loops around them: such a sum is made for all
/// of their iterations at once, in front, by loops that hold nothing else. Gives the buffers that
/// are made so; nothing gives their elements a first value, which is 0.
std::set<uint32_t> takeContractions(Nest& nest);

/// The statement in loops that hold nothing but each other and a sum of products that was taken
/// out, and these loops.
struct ContractionNest {
  std::vector<loops::Loop> loops;
  const loops::Statement* statement = nullptr;
};

std::optional<ContractionNest> contractionOf(const loops::Node& node,
                                             const std::set<uint32_t>& taken);

/// Makes the contraction; the code of its factors is added to `sides`, whose places it tells.
void compileContraction(Nest& nest, Emitter& emitter, StatementCompiler& statements,
                        const ContractionNest& found, Sequence& sides);

} // namespace strips
