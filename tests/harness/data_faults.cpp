// A look at the scalars of tensor expressions; each node once, since they are shared.
#include "tests/harness/data_faults.h"

#include "tests/harness/run_operator.h"

#include <algorithm>

namespace harness {

using namespace lang;

namespace {

/// Those that the value is made from; a position is looked at by itself.
void appendOperands(const ScalarNode* node, std::vector<const ScalarNode*>& stack) {
  if (const auto* load = node->as<tensor::ScalarLoad>()) {
    if (load->outside)
      stack.push_back(load->outside);
  } else if (const auto* apply = node->as<tensor::ScalarApply>()) {
    stack.insert(stack.end(), apply->operands.begin(), apply->operands.end());
  } else if (const auto* cast = node->as<tensor::ScalarCast>()) {
    stack.push_back(cast->operand);
  } else if (const auto* reduce = node->as<tensor::ScalarReduce>()) {
    stack.push_back(reduce->body);
  }
}

/// Whether `holds` of a node or of one below it.
template <typename Holds>
bool anyNode(const ScalarNode* root, Holds holds) {
  std::vector<const ScalarNode*> stack{root};
  std::unordered_set<const ScalarNode*> seen;
  while (!stack.empty()) {
    const ScalarNode* node = stack.back();
    stack.pop_back();
    if (!seen.insert(node).second)
      continue;
    if (holds(node))
      return true;
    appendOperands(node, stack);
  }
  return false;
}

bool hasLoad(const ScalarNode* root) {
  return anyNode(root,
                 [](const ScalarNode* node) { return node->kind == tensor::ScalarKind::Load; });
}

bool canStop(const ScalarNode* node) {
  if (const auto* load = node->as<tensor::ScalarLoad>())
    return !load->outside && std::ranges::any_of(load->position, hasLoad);
  const auto* apply = node->as<tensor::ScalarApply>();
  return apply && tensor::scalarFunctionDivides(apply->function);
}

} // namespace

bool canFault(const TensorFunction& function) {
  return std::ranges::any_of(function.stages, [](const tensor::Stage& stage) {
    return stage.body && anyNode(stage.body, canStop);
  });
}

OperatorSet operatorsWithDataFaults(TypeContext& types, const SamplePool& samples) {
  OperatorSet found;
  for (const OperatorSample& sample : samples.all) {
    const OperatorRow* row = sample.row;
    bool can = row->native || row->shapeNeeds != ShapeNeeds::Shapes;
    if (!can && !sample.hasSymbols && !found.contains(row)) {
      auto function =
          operatorFunction(*row, {types, sample.operands, sample.attributes}, sample.output);
      can = function && canFault(*function);
    }
    if (can)
      found.insert(row);
  }
  return found;
}

} // namespace harness
