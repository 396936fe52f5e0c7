// Where a program has sizes.
#include "lower/strips/plan.h"

namespace lower {

namespace {

class Lister {
public:
  void add(Size& size) {
    if (!size.isConstant())
      found.push_back(&size);
  }
  void add(List<Size>& sizes) {
    for (Size& size : sizes)
      add(size);
  }
  void add(Affine& form) {
    add(form.constant);
    for (AffineTerm& term : form.terms)
      add(term.coefficient);
  }
  void add(GraphValue& value) {
    add(value.affine);
    for (AffineBound& bound : value.bounds) {
      add(bound.position);
      add(bound.extent);
    }
    for (IndexTerm& term : value.indices) {
      add(term.stride);
      add(term.extent);
    }
  }
  void add(Nest& nest) {
    add(nest.graph.extents);
    add(nest.graph.store);
    for (GraphValue& value : nest.graph.values)
      add(value);
    for (Block& block : nest.blocks)
      for (Step& step : block.steps)
        add(step.laneStride);
  }
  void add(Contraction& contraction) {
    for (Contraction::Side* side : {&contraction.rows, &contraction.columns}) {
      add(side->nest);
      add(side->count);
    }
    add(contraction.extents);
    add(contraction.store);
  }

  List<Size*> found;
};

} // namespace

List<Size*> openSizes(Program& program) {
  Lister lister;
  for (PlanTensor& tensor : program.tensors) {
    lister.add(tensor.shape);
    lister.add(tensor.count);
  }
  for (StagePlan& stage : program.stages) {
    lister.add(stage.map);
    lister.add(stage.contraction);
    lister.add(stage.scan.outer);
    lister.add(stage.scan.extent);
    lister.add(stage.scan.inner);
  }
  return std::move(lister.found);
}

} // namespace lower
