// The part of the verifier that looks at one place at a time: names, types, bounds.
#pragma once

#include "lower/loops/nest.h"

#include <stdexcept>
#include <string>

namespace loops {

/// Thrown by the parts of the verifier, and caught by it.
struct Wrong {
  std::string problem;
};

/// Names, types and bounds of everything in a nest; throws what is wrong first.
void checkPlaces(Nest& nest);

} // namespace loops
