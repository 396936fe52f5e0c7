// What makes a nest one that computes what it says.
#pragma once

#include "lower/loops/nest.h"

#include <string>

namespace loops {

/// What is wrong with a nest, in words with the statement or line; empty when nothing is.
///
/// Names are of sizes or of loops around, types fit; what is read and written lies inside its
/// buffer; every element of an output is made once, of scratch at most once, and whatever is read
/// was made before; a combiner goes through each of its coordinates once, on elements that have a
/// value to begin with; loops that run at once make elements apart; with Numbers::Reference sums
/// run in the order of their coordinates.
std::string problemOf(const Nest& nest);
/// The same; what was proven stays known to the table of the nest, for who asks again.
std::string problemOf(Nest& nest);

} // namespace loops
