// From loop nests to strip programs.
//
// Any nest that verifies has a program; how its loops are marked does not matter but for those that
// run by threads. What makes it fast is chosen here: loops through pieces of an axis are split
// (splits.h), those that walk memory as one are one (merge.h), sums of products are taken out
// (contraction.h), and one loop of those around each statement becomes strips (lanes.h). What is
// known without a run is no part of the program (inside.h, known_numbers.h).
#pragma once

#include "codegen/strips/program.h"
#include "lower/loops/nest.h"
#include "runtime/result.h"

#include <string>

namespace strips {

/// Thrown where a nest has no program, and caught in programOf.
struct NoProgram {
  std::string problem;
};

/// The program of a nest that verifies. Why there is none is a matter of the nest, whose functions
/// may not be defined on their types.
runtime::Checked<Program> programOf(loops::Nest nest);

} // namespace strips
