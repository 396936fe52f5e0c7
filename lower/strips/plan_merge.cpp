// Two neighbouring axes are one when every affine form has, for the outer one, the coefficient of
// the inner one times its extent. Long axes make long strips.
#include "lower/strips/plan_merge.h"

namespace lower {

namespace {

/// Calls `visit` with every form that counts, until it gives false; whether none did.
template <typename Visit>
bool eachForm(Graph& graph, Visit&& visit) {
  if (!visit(graph.store))
    return false;
  for (uint32_t id : graph.order) {
    GraphValue& value = graph.values[id];
    if (!visit(value.affine))
      return false;
    for (AffineBound& bound : value.bounds)
      if (!visit(bound.position))
        return false;
  }
  return true;
}

/// Asks of the forms one after the other, as each answer may be one more condition.
bool walkAsOne(Graph& graph, Sizes& sizes, uint32_t outer, uint32_t inner) {
  return eachForm(graph, [&](const Affine& form) {
    auto expected = sizes.product(form.coefficient(inner), graph.extents[inner]);
    return expected && sizes.isSame(form.coefficient(outer), *expected);
  });
}

void join(Graph& graph, uint32_t outer, uint32_t inner, Size extent) {
  eachForm(graph, [&](Affine& form) {
    form.terms.eraseIf([&](const AffineTerm& term) { return term.axis == outer; });
    return true;
  });
  for (GraphValue& value : graph.values) {
    value.axes.reset(outer);
    value.reduced.eraseIf([&](uint32_t axis) { return axis == outer; });
  }
  graph.extents[inner] = extent;
}

} // namespace

void mergeAxes(Graph& graph, Sizes& sizes, List<uint32_t>& axes) {
  for (size_t i = axes.size(); i-- > 1;) {
    auto extent = sizes.product(graph.extents[axes[i - 1]], graph.extents[axes[i]]);
    if (!extent || !walkAsOne(graph, sizes, axes[i - 1], axes[i]))
      continue;
    join(graph, axes[i - 1], axes[i], *extent);
    axes[i - 1] = axes[i];
    axes.erase(axes.begin() + ptrdiff_t(i));
  }
}

void mergeAllAxes(Graph& graph, Sizes& sizes) {
  mergeAxes(graph, sizes, graph.outputAxes);
  for (uint32_t id : graph.order) {
    List<uint32_t> axes = graph.values[id].reduced;
    if (!axes.empty())
      mergeAxes(graph, sizes, axes);
  }
}

} // namespace lower
