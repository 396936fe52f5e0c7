// What is known of numbers before a program runs.
#pragma once

#include "codegen/strips/program.h"

namespace strips {

/// Computes what hangs on constants alone, takes loops of one iteration and guards that always hold
/// out of a program, and numbers that nothing needs. How long strips are must be known.
Program withoutKnown(Program program);

} // namespace strips
