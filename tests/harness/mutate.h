// Small mistakes in well-typed programs, such as people make.
//
// A mutant is probably ill-typed, and is well-typed now and then; the checker has to tell. Types in
// its nodes are those of the program that it was made from.
#pragma once

#include "tests/harness/program.h"
#include "tests/harness/random.h"

namespace harness {

/// The program with one mistake in it; names stay bound. When a mistake finds no place, another one
/// is tried.
Program mutated(const Program& program, Random& random);

} // namespace harness
