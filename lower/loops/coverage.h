// Which points loops go through: what legality is proven by.
//
// A coordinate is a form over the variables of loops, such as io*6 + ii. Together the coordinates
// of a statement are gone through once when each is, in some mixed radix, made of loops of its own:
// the smallest has the stride 1, and the stride of each next is as far as those before it reach.
// What a condition cuts off is one digit less, and what merging loops made (f/m and f % m) is two
// digits.
#pragma once

#include "lower/loops/nest.h"
#include "runtime/result.h"

namespace loops {

/// The values begin .. end - 1, each taken once, and the loops that make them, most significant
/// first, by their places.
struct Span {
  Form begin, end;
  std::vector<size_t> digits;
};

/// What the coordinates take on inside of these loops and conditions, which are outermost first;
/// all other names are fixed. Nothing where not every point of a box is taken once.
std::optional<std::vector<Span>> spansOf(sizes::Table& table, const sizes::Facts& facts,
                                         const std::vector<const Node*>& around,
                                         const std::vector<Form>& coordinates);

} // namespace loops
