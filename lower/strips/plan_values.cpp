// Makers of graph values, with their ranges.
#include "lower/strips/plan_values.h"

#include "lower/strips/plan_affine.h"

namespace lower {

Range rangeOfElement(Element element) {
  switch (element) {
  case Element::Bool:
    return {0, 1};
  case Element::Int8:
    return {INT8_MIN, INT8_MAX};
  case Element::Int16:
    return {INT16_MIN, INT16_MAX};
  case Element::Int32:
    return {INT32_MIN, INT32_MAX};
  case Element::UInt8:
    return {0, UINT8_MAX};
  case Element::UInt16:
    return {0, UINT16_MAX};
  case Element::UInt32:
    return {0, UINT32_MAX};
  default:
    return {};
  }
}

GraphValue makeNumber(Element element, double real, int64_t integer) {
  GraphValue value{GraphValueKind::Number, element, {}, {integer, integer}, {}};
  value.real = real;
  value.integer = integer;
  return value;
}

GraphValue makeApply(Sizes& sizes, const Graph& graph, ScalarFunction function, Element element,
                     List<uint32_t> operands) {
  GraphValue value{GraphValueKind::Apply, element, {}, rangeOfElement(element), {}, function};
  for (uint32_t operand : operands)
    value.axes |= graph.values[operand].axes;
  if (element == Element::Int64 && operands.size() >= 2)
    value.range = rangeOf(sizes, function, graph.values[operands[operands.size() - 2]].range,
                          graph.values[operands.back()].range);
  value.operands = std::move(operands);
  return value;
}

AxisSet axesOfOutside(const Graph& graph, uint32_t load) {
  AxisSet axes;
  for (const AffineBound& bound : graph.values[load].bounds)
    for (const AffineTerm& term : bound.position.terms)
      axes.set(term.axis);
  for (const IndexTerm& term : graph.values[load].indices)
    if (!term.inside)
      axes |= graph.values[term.position].axes;
  return axes;
}

uint32_t append(Graph& graph, GraphValue value) {
  graph.values.push_back(std::move(value));
  return uint32_t(graph.values.size() - 1);
}

} // namespace lower
