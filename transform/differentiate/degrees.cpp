// Degrees of tensor expressions, scalar by scalar.
#include "transform/differentiate/degrees.h"

#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "lang/op/op.h"
#include "lang/rules/gradient.h"

#include <algorithm>
#include <unordered_set>

namespace transform {

using namespace lang;
using namespace tensor;

Degree joined(Degree a, Degree b) {
  if (a == b || b == Degree::Zero)
    return a;
  if (a == Degree::Zero)
    return b;
  return a == Degree::Other || b == Degree::Other ? Degree::Other : Degree::Affine;
}

namespace {

bool isFixed(Degree degree) {
  return degree == Degree::Zero || degree == Degree::Constant;
}

/// Of a function that is not linear in anything.
Degree ofAny(std::span<const Degree> operands) {
  return std::ranges::all_of(operands, isFixed) ? Degree::Constant : Degree::Other;
}

Degree ofApply(ScalarFunction function, std::span<const Degree> operands) {
  switch (function) {
  case ScalarFunction::Negative:
    return operands[0];
  case ScalarFunction::Add:
  case ScalarFunction::Subtract:
    return joined(operands[0], operands[1]);
  case ScalarFunction::Multiply:
    if (operands[0] == Degree::Zero || operands[1] == Degree::Zero)
      return Degree::Zero;
    if (operands[0] == Degree::Constant || operands[1] == Degree::Constant)
      return operands[0] == Degree::Constant ? operands[1] : operands[0];
    return Degree::Other;
  case ScalarFunction::Divide:
    return isFixed(operands[1]) ? operands[0] : Degree::Other;
  case ScalarFunction::Select:
    return isFixed(operands[0]) ? joined(operands[1], operands[2]) : Degree::Other;
  default:
    return ofAny(operands);
  }
}

/// One tensor expression, whose inputs have these degrees.
class Expression {
public:
  Expression(const TensorFunction& function, std::span<const Degree> inputs)
      : function_(function), tensors_(inputs.begin(), inputs.end()) {}

  std::vector<Degree> results() {
    for (const Stage& stage : function_.stages)
      tensors_.push_back(ofStage(stage));
    std::vector<Degree> results;
    for (uint32_t result : function_.results)
      results.push_back(tensors_[result]);
    return results;
  }

private:
  Degree ofStage(const Stage& stage) {
    switch (stage.kind) {
    case StageKind::Map:
      return of(*stage.body);
    case StageKind::Reshape:
      return tensors_[stage.source];
    default:
      return ofSum(stage.combiner, tensors_[stage.source]);
    }
  }

  static Degree ofSum(Combiner combiner, Degree degree) {
    return combiner == Combiner::Sum ? degree : ofAny({&degree, 1});
  }

  /// The nodes of an expression are shared, and no deeper than its author wrote them.
  Degree of(const ScalarNode& node) {
    auto [known, isNew] = known_.try_emplace(&node, Degree::Constant);
    if (!isNew)
      return known->second;
    Degree found = computed(node);
    return known_[&node] = found;
  }

  Degree computed(const ScalarNode& node) {
    if (const auto* number = node.as<ScalarNumber>())
      return (number->dtype.isFloat() ? number->real == 0 : number->integer == 0)
                 ? Degree::Zero
                 : Degree::Constant;
    if (const auto* load = node.as<ScalarLoad>())
      return ofLoad(*load);
    if (const auto* apply = node.as<ScalarApply>()) {
      std::vector<Degree> operands;
      for (const ScalarNode* operand : apply->operands)
        operands.push_back(of(*operand));
      return ofApply(apply->function, operands);
    }
    if (const auto* cast = node.as<ScalarCast>()) {
      Degree degree = of(*cast->operand);
      return isFixed(degree) || cast->dtype.isFloat() ? degree : Degree::Other;
    }
    if (const auto* reduce = node.as<ScalarReduce>())
      return ofSum(reduce->combiner, of(*reduce->body));
    return Degree::Constant;
  }

  Degree ofLoad(const ScalarLoad& load) {
    for (const ScalarNode* position : load.position)
      if (!isFixed(of(*position)))
        return Degree::Other;
    Degree inside = tensors_[load.tensor];
    return load.outside ? joined(inside, of(*load.outside)) : inside;
  }

  const TensorFunction& function_;
  std::vector<Degree> tensors_;
  std::unordered_map<const ScalarNode*, Degree> known_;
};

/// Of an operator with a kernel: it is linear where its gradient mentions neither operands that
/// vary nor the result.
bool isLinearByRule(Builder& make, const GradientRule& rule, const DegreeSite& site) {
  BlockBuilder scratch(make);
  const Var* result = make.var(VarOrigin::Temporary, {}, site.resultType);
  std::unordered_set<Atom> varied{result};
  size_t next = 0;
  for (size_t i = 0; i < site.operands.size(); ++i)
    for (size_t count = tensorCount(site.operandTypes[i]); count > 0; --count, ++next) {
      Degree degree = site.degrees[next];
      if (degree == Degree::Linear)
        varied.insert(site.operands[i]);
      std::vector<const Type*> leaves;
      appendTensors(site.operandTypes[i], leaves);
      if (degree == Degree::Constant && leaves[leaves.size() - count]->dtype.isFloat())
        return false;
    }
  std::vector<const Type*> leaves;
  appendTensors(site.resultType, leaves);
  std::vector<Atom> cotangents;
  for (const Type* leaf : leaves)
    cotangents.push_back(leaf->dtype.isFloat() ? make.var(VarOrigin::Temporary, {}, leaf)
                                               : nullptr);
  GradientCall call(scratch, {site.operandTypes, site.resultType, site.attributes, site.operands,
                              result, cotangents});
  rule.build(call);
  bool isMentioned = false;
  for (const Binding& binding : scratch.bindings())
    forEachOperand(*binding.value,
                   [&](const Operand& operand) { isMentioned |= varied.contains(operand.value); });
  return !isMentioned;
}

} // namespace

std::vector<Degree> degreesOf(Builder& make, const OperatorRow& row, const DegreeSite& site) {
  std::vector<Degree> all(tensorCount(site.resultType), Degree::Constant);
  if (row.compute) {
    auto function = tensorFunctionOf(row, site.operandTypes, site.resultType, site.attributes);
    if (function)
      return Expression(*function, site.degrees).results();
  }
  if (std::ranges::all_of(site.degrees, isFixed))
    return all;
  const auto* rule = std::get_if<GradientRule>(&row.gradient);
  bool isLinear = rule && std::ranges::none_of(site.degrees, [](Degree degree) {
                    return degree == Degree::Affine || degree == Degree::Other;
                  });
  isLinear = isLinear && isLinearByRule(make, *rule, site);
  std::ranges::fill(all, isLinear ? Degree::Linear : Degree::Other);
  return all;
}

} // namespace transform
