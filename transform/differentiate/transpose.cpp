// The forward rule of an operator: its rule is written down over cotangents that nobody has, and
// then run backwards. What only led to the rule's own results falls away.
#include "transform/differentiate/transpose.h"

#include "lang/ir/differentiable.h"
#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "lang/op/op.h"
#include "lang/rules/gradient.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

const Attributes& attributesOf(const Call& call) {
  static const Attributes none{};
  return call.attributes ? *call.attributes : none;
}

/// A rule in the making, and its transpose.
class Transposition {
public:
  Transposition(DerivativeTypes& types, BlockBuilder& out) : types_(types), out_(out) {}

  void setType(Atom atom, const Type* type) { found_[atom] = type; }

  /// Says that the code is linear in an atom.
  void setLinear(Atom atom, const Type* type) {
    setType(atom, type);
    linear_.insert(atom);
  }

  /// Finds the types of straight code, and what in it depends on the unknowns.
  void read(const std::vector<Binding>& bindings) {
    for (const Binding& binding : bindings) {
      setType(binding.var, typeOfValue(*binding.value));
      forEachOperand(*binding.value, [&](const Operand& operand) {
        if (linear_.contains(operand.value))
          linear_.insert(binding.var);
      });
    }
  }

  void give(Atom atom, const Cotangent& more) {
    if (linear_.contains(atom))
      accumulate(types_, out_, gathered_[atom], typeOf(atom), more);
  }

  Cotangent take(Atom atom) {
    auto found = gathered_.find(atom);
    return found == gathered_.end() ? Cotangent{} : std::exchange(found->second, {});
  }

  void runBackwards(const std::vector<Binding>& bindings) {
    for (size_t i = bindings.size(); i-- > 0;)
      if (Cotangent incoming = take(bindings[i].var); !incoming.isZero())
        backward(bindings[i], incoming);
  }

private:
  const Type* typeOf(Atom atom) const {
    if (const auto* constant = atom->as<Constant>())
      return constant->type;
    return found_.at(atom);
  }

  const Type* typeOfValue(const Expr& value) {
    std::vector<const Type*> operands;
    forEachOperand(value, [&](const Operand& operand) {
      if (operand.value->kind != ExprKind::Operator)
        operands.push_back(typeOf(operand.value));
    });
    if (const auto* project = value.as<Project>())
      return operands[0]->parts[project->index];
    if (value.kind == ExprKind::Tuple)
      return types_.make.types.tuple(operands);
    const Call& call = *value.as<Call>();
    const OperatorRow& row = *call.callee.value->as<OperatorRef>()->row;
    std::deque<runtime::Tensor> constants;
    std::vector<const runtime::Tensor*> values;
    for (const Operand& argument : call.arguments) {
      const auto* constant = argument.value->as<Constant>();
      bool isAsked = constant && row.shapeNeeds == ShapeNeeds::Constants;
      values.push_back(isAsked ? &constants.emplace_back(constantTensor(*constant)) : nullptr);
    }
    return applyRelation(row, {types_.make.types, operands, attributesOf(call), values}).output;
  }

  void backward(const Binding& binding, const Cotangent& incoming) {
    if (const auto* tuple = binding.value->as<TupleExpr>()) {
      for (size_t i = 0; i < incoming.fields.size(); ++i)
        give(tuple->fields[i].value, incoming.fields[i]);
    } else if (const auto* project = binding.value->as<Project>()) {
      Cotangent fields;
      fields.fields.resize(typeOf(project->tuple.value)->parts.size());
      fields.fields[project->index] = incoming;
      give(project->tuple.value, fields);
    } else {
      backwardCall(binding, *binding.value->as<Call>(), incoming);
    }
  }

  void backwardCall(const Binding& binding, const Call& call, const Cotangent& incoming) {
    const OperatorRow& row = *call.callee.value->as<OperatorRef>()->row;
    const auto* rule = std::get_if<GradientRule>(&row.gradient);
    const auto* none = std::get_if<NoGradient>(&row.gradient);
    if (none && none->isZero)
      return;
    if (!rule)
      throw std::logic_error(fmt::format("a rule calls `{}`, which has none", row.name));
    std::vector<const Type*> operandTypes;
    std::vector<Atom> operands;
    for (const Operand& argument : call.arguments) {
      operands.push_back(argument.value);
      operandTypes.push_back(typeOf(argument.value));
    }
    const Type* type = typeOf(binding.var);
    std::vector<Atom> cotangents = leavesOf(incoming, type);
    auto sum = [&](size_t i) {
      return operandTypes[i]->isTensor() ? take(operands[i]).sum : nullptr;
    };
    GradientCall made(
        out_, {operandTypes, type, attributesOf(call), operands, binding.var, cotangents, sum});
    rule->build(made);
    for (size_t i = 0; i < operands.size(); ++i)
      give(operands[i], gathered(made.cotangents()[i], operandTypes[i]));
  }

  DerivativeTypes& types_;
  BlockBuilder& out_;
  std::unordered_map<Atom, const Type*> found_;
  std::unordered_set<Atom> linear_;
  std::unordered_map<Atom, Cotangent> gathered_;
};

/// Appends those bindings that `result` needs.
void appendNeeded(BlockBuilder& out, const std::vector<Binding>& bindings,
                  const Cotangent& result) {
  std::unordered_set<Atom> needed;
  std::vector<const Cotangent*> open{&result};
  while (!open.empty()) {
    const Cotangent* next = open.back();
    open.pop_back();
    needed.insert(next->sum);
    for (const Cotangent& field : next->fields)
      open.push_back(&field);
  }
  std::vector<Binding> kept;
  for (size_t i = bindings.size(); i-- > 0;)
    if (needed.contains(bindings[i].var)) {
      kept.push_back(bindings[i]);
      forEachOperand(*bindings[i].value,
                     [&](const Operand& operand) { needed.insert(operand.value); });
    }
  for (size_t i = kept.size(); i-- > 0;)
    out.append(kept[i]);
}

} // namespace

Cotangent pushForward(DerivativeTypes& types, BlockBuilder& out, const OperatorRow& row,
                      const TangentSite& site) {
  BlockBuilder point(types.make), rule(types.make), back(types.make);
  Transposition transposition(types, back);
  for (size_t i = 0; i < site.operands.size(); ++i)
    transposition.setType(site.operands[i], site.operandTypes[i]);
  transposition.setType(site.result, site.resultType);
  // A linear function has the same transpose everywhere, so also at zero; where its code asks for
  // the shape of the cotangent, this one has it.
  std::vector<Atom> cotangents;
  for (uint32_t i = 0; i < tensorCount(site.resultType); ++i) {
    bool isTuple = site.resultType->isTuple();
    const Type* leaf = isTuple ? site.resultType->parts[i] : site.resultType;
    cotangents.push_back(nullptr);
    if (!leaf->dtype.isFloat())
      continue;
    Atom value = isTuple ? point.project(site.result, i) : site.result;
    cotangents.back() = point.call(types.make.operators.withRole(Role::ZerosLike), {value});
    transposition.setLinear(cotangents.back(), leaf);
  }
  GradientCall made(rule, {site.operandTypes, site.resultType, site.attributes, site.operands,
                           site.result, cotangents});
  std::get<GradientRule>(row.gradient).build(made);
  transposition.read(rule.bindings());
  for (size_t i = 0; i < site.operands.size(); ++i) {
    std::vector<Atom> tangents = leavesOf(site.tangents[i], site.operandTypes[i]);
    for (size_t field = 0; field < made.cotangents()[i].size(); ++field)
      if (Atom given = made.cotangents()[i][field]; given && tangents[field])
        transposition.give(given, {tangents[field]});
  }
  transposition.runBackwards(rule.bindings());
  std::vector<Atom> results;
  for (Atom cotangent : cotangents)
    results.push_back(cotangent ? transposition.take(cotangent).sum : nullptr);
  Cotangent tangent = gathered(results, site.resultType);
  std::vector<Binding> all(point.bindings());
  all.insert(all.end(), rule.bindings().begin(), rule.bindings().end());
  all.insert(all.end(), back.bindings().begin(), back.bindings().end());
  appendNeeded(out, all, tangent);
  return tangent;
}

} // namespace transform
