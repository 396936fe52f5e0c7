// Makers of graph values.
#pragma once

#include "lower/strips/plan.h"

namespace lower {

/// A constant; of `real` and `integer` the one counts that fits the element.
GraphValue makeNumber(Element element, double real, int64_t integer);
/// A function of values of a graph, without looking at what it computes.
GraphValue makeApply(Sizes& sizes, const Graph& graph, ScalarFunction function, Element element,
                     List<uint32_t> operands);
/// Adds a value to a graph and gives its number.
uint32_t append(Graph& graph, GraphValue value);

/// The axes on which it depends whether a load leaves its tensor: a position that is given for many
/// elements at once is looked at once for all of them.
AxisSet axesOfOutside(const Graph& graph, uint32_t load);

/// The values of a type as far as Range can say: all of int64 for floats and 64-bit integers.
Range rangeOfElement(Element element);

} // namespace lower
