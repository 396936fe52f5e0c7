// Two neighbouring axes are one when every affine form has, for the outer one, the coefficient of
// the inner one times its extent. Long axes make long strips.
#include "lower/plan_merge.h"

namespace lower {

namespace {

/// Calls `visit` with every form that counts.
template <typename Visit>
void eachForm(Graph& graph, Visit&& visit) {
  visit(graph.store);
  for (uint32_t id : graph.order) {
    GraphValue& value = graph.values[id];
    visit(value.affine);
    for (AffineBound& bound : value.bounds)
      visit(bound.position);
  }
}

bool walkAsOne(Graph& graph, uint32_t outer, uint32_t inner) {
  int64_t joined = 0;
  bool same = !__builtin_mul_overflow(graph.extents[outer], graph.extents[inner], &joined);
  eachForm(graph, [&](const Affine& form) {
    int64_t expected = 0;
    bool overflow =
        __builtin_mul_overflow(form.coefficient(inner), graph.extents[inner], &expected);
    same &= !overflow && form.coefficient(outer) == expected;
  });
  return same;
}

void join(Graph& graph, uint32_t outer, uint32_t inner) {
  eachForm(graph, [&](Affine& form) {
    std::erase_if(form.terms, [&](const AffineTerm& term) { return term.axis == outer; });
  });
  for (GraphValue& value : graph.values) {
    value.axes.reset(outer);
    std::erase(value.reduced, outer);
  }
  graph.extents[inner] *= graph.extents[outer];
}

} // namespace

void mergeAxes(Graph& graph, std::vector<uint32_t>& axes) {
  for (size_t i = axes.size(); i-- > 1;)
    if (walkAsOne(graph, axes[i - 1], axes[i])) {
      join(graph, axes[i - 1], axes[i]);
      axes[i - 1] = axes[i];
      axes.erase(axes.begin() + ptrdiff_t(i));
    }
}

void mergeAllAxes(Graph& graph) {
  mergeAxes(graph, graph.outputAxes);
  for (uint32_t id : graph.order) {
    std::vector<uint32_t> axes = graph.values[id].reduced;
    if (!axes.empty())
      mergeAxes(graph, axes);
  }
}

} // namespace lower
