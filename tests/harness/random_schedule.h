// Random changes of loop nests: steps of schedules, and damage.
#pragma once

#include "lower/loops/rewrite.h"
#include "tests/harness/random.h"

#include <string>
#include <vector>

namespace harness {

/// What random steps made of a nest.
struct RandomSchedule {
  loops::Nest nest;
  /// The steps that applied, and a line for each.
  std::vector<loops::Step> steps = {};
  std::string text = {};
};

/// Draws so many steps, each a rewrite with names and numbers of the nest, and takes those that
/// apply.
RandomSchedule drawSchedule(const loops::Nest& nest, size_t draws, Random& random);

/// Changes the tree of a nest in one place, without a look at what that does: nodes move and are
/// done twice, loops end elsewhere and run in other ways, conditions go. Statements stay as they
/// are, so a nest that verifies afterwards computes what it did.
void damage(loops::Nest& nest, Random& random);

} // namespace harness
