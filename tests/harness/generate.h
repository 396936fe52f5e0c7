// Random well-typed programs, made from the wanted type backwards.
//
// The generator knows the type of every expression that it makes. What it takes from Baton is the
// operators' relations, through the samples of the universe; the checker has to find the same types
// again from the text.
#pragma once

#include "tests/harness/program.h"
#include "tests/harness/universe.h"

namespace harness {

struct GenerateOptions {
  /// About how many expressions a program has at most.
  size_t nodes = 220;
  size_t depth = 5;
};

/// The program of a seed; the universe's types grow by what it needs.
Program generateProgram(Universe& universe, uint64_t seed, const GenerateOptions& options = {});

} // namespace harness
