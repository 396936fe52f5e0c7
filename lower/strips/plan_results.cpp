// Tensors that are new shapes of others count as these.
#include "lower/strips/plan_results.h"

#include <algorithm>

namespace lower {

namespace {

class Results {
public:
  Results(Program& program, Sizes& sizes) : program_(program), sizes_(sizes) {}

  void run() {
    findLastUses();
    findSources();
    findReplaceable();
  }

private:
  uint32_t rootOf(uint32_t tensor) const { return program_.roots[tensor]; }

  void findLastUses() {
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      const StagePlan& stage = program_.stages[i];
      program_.tensors[stage.result].lastUse = i;
      program_.tensors[stage.source].lastUse = i;
      for (const Nest* nest :
           {&stage.map, &stage.contraction.rows.nest, &stage.contraction.columns.nest})
        for (const GraphValue& value : nest->graph.values)
          if (value.kind == GraphValueKind::Load)
            program_.tensors[value.tensor].lastUse = i;
    }
    for (uint32_t result : program_.results)
      program_.tensors[result].lastUse = program_.stages.size();
  }

  void findSources() {
    for (uint32_t tensor = 0; tensor < program_.tensors.size(); ++tensor)
      program_.roots.push_back(tensor);
    for (const StagePlan& stage : program_.stages)
      if (stage.kind == StagePlanKind::Reshape)
        program_.roots[stage.result] = program_.roots[stage.source];
    const List<uint32_t>& results = program_.results;
    for (uint32_t result : results) {
      uint32_t root = rootOf(result);
      auto first = std::ranges::find(results, root, [&](uint32_t other) { return rootOf(other); });
      bool isInput = root < program_.inputCount;
      program_.codeResults.push_back(
          {.type = program_.tensors[result].dtype,
           .source = {isInput, isInput ? root : uint32_t(first - results.begin())}});
    }
  }

  bool areSame(const Affine& a, const Affine& b) {
    bool same = a.terms.size() == b.terms.size() && sizes_.isSame(a.constant, b.constant);
    for (size_t i = 0; same && i < a.terms.size(); ++i)
      same = a.terms[i].axis == b.terms[i].axis &&
             sizes_.isSame(a.terms[i].coefficient, b.terms[i].coefficient);
    return same;
  }

  bool areSame(const List<Size>& a, const List<Size>& b) {
    return std::ranges::equal(a, b, [&](Size x, Size y) { return sizes_.isSame(x, y); });
  }

  /// Whether a stage reads of an input, if anything, only the element at the place that it writes.
  bool isReadInPlace(const StagePlan& stage, uint32_t input) {
    if (stage.kind != StagePlanKind::Map)
      return false;
    const Graph& graph = stage.map.graph;
    return std::ranges::all_of(graph.values, [&](const GraphValue& value) {
      return value.kind != GraphValueKind::Load || rootOf(value.tensor) != input ||
             (value.bounds.empty() && value.indices.empty() && areSame(value.affine, graph.store));
    });
  }

  void findReplaceable() {
    List<size_t> lastUses(program_.tensors.size());
    for (uint32_t tensor = 0; tensor < program_.tensors.size(); ++tensor) {
      size_t& last = lastUses[rootOf(tensor)];
      last = std::max(last, program_.tensors[tensor].lastUse);
    }
    List<const StagePlan*> makers(program_.tensors.size());
    for (const StagePlan& stage : program_.stages)
      makers[stage.result] = &stage;
    for (uint32_t i = 0; i < program_.results.size(); ++i) {
      const StagePlan* maker = makers[rootOf(program_.results[i])];
      if (!program_.codeResults[i].isWritten(i) || !maker)
        continue;
      for (uint32_t input = 0; input < program_.inputCount; ++input)
        if (!isResult(input) && lastUses[input] <= size_t(maker - program_.stages.data()) &&
            isReplaceable(input, *maker, program_.tensors[program_.results[i]]))
          program_.codeResults[i].replaceable.push_back(input);
    }
  }

  bool isResult(uint32_t input) const {
    return std::ranges::any_of(program_.codeResults, [&](const runtime::CodeResult& result) {
      return result.source.isInput && result.source.index == input;
    });
  }

  /// Shapes are compared last: whether they are the same is one more condition.
  bool isReplaceable(uint32_t input, const StagePlan& maker, const PlanTensor& result) {
    const PlanTensor& tensor = program_.tensors[input];
    return tensor.element == result.element && isReadInPlace(maker, input) &&
           areSame(tensor.shape, result.shape);
  }

  Program& program_;
  Sizes& sizes_;
};

} // namespace

void findResults(Program& program, Sizes& sizes) {
  Results(program, sizes).run();
}

} // namespace lower
