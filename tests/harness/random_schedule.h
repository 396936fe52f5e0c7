// Random changes of loop nests: steps of schedules, and damage.
#pragma once

#include "lower/loops/rewrite.h"
#include "tests/harness/random.h"

namespace harness {

/// A step that may apply to a nest, or may not: a rewrite with names and numbers of the nest.
loops::Step drawStep(const loops::Nest& nest, Random& random);

/// Changes the tree of a nest in one place, without a look at what that does: nodes move and are
/// done twice, loops end elsewhere and run in other ways, conditions go. Statements stay as they
/// are, so a nest that verifies afterwards computes what it did.
void damage(loops::Nest& nest, Random& random);

} // namespace harness
