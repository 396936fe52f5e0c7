// What of a statement may fail, and where it counts: of a choice the chosen side, of a read the
// value outside where it is outside.
#include "codegen/strips/compile/values.h"

#include "lower/loops/names.h"

namespace strips {

namespace {

using loops::Operation;
using loops::OperationKind;
using runtime::ScalarFunction;

bool mayFail(const std::vector<Operation>& operations, const Operation& operation) {
  if (operation.kind == OperationKind::Load) {
    bool isChecked = false;
    for (const loops::Place& place : operation.places)
      isChecked |= place.isChecked;
    return isChecked && operation.operands.empty();
  }
  if (operation.kind != OperationKind::Apply || operation.dtype.isFloat() ||
      !runtime::scalarFunctionDivides(operation.function))
    return false;
  const Operation& divisor = operations[operation.operands[1]];
  return divisor.kind != OperationKind::Number || divisor.integer == 0;
}

} // namespace

/// A bool that holds where an operation has failed.
Value ValueCompiler::failureOf(const Operations& operations, uint32_t place) {
  const Operation& operation = operations[place];
  if (operation.kind == OperationKind::Load)
    return outside(accesses_[place]);
  const Operation zero{.kind = OperationKind::Number,
                       .dtype = operations[operation.operands[1]].dtype};
  return apply(ScalarFunction::Equal, {values_[operation.operands[1]], number(zero)});
}

/// Where an operand of a user counts, given that the user does; nothing when everywhere.
std::optional<Value> ValueCompiler::conditionOf(const Operations& operations, uint32_t user,
                                                size_t operand) {
  const Operation& operation = operations[user];
  if (operation.kind == OperationKind::Load)
    return accesses_[user] == none ? std::nullopt : std::optional(outside(accesses_[user]));
  if (operation.kind != OperationKind::Apply || operation.function != ScalarFunction::Select ||
      operand == 0)
    return std::nullopt;
  Value condition = converted(values_[operation.operands[0]], Element::Bool);
  return operand == 1 ? condition : apply(ScalarFunction::LogicalNot, {condition});
}

/// Where an operation counts, by its users, of which all that matter are known.
std::optional<Value> ValueCompiler::needOf(const Operations& operations, uint32_t place) {
  std::optional<Value> need;
  for (uint32_t user = place + 1; user < operations.size(); ++user) {
    if (!isNeeded_[user])
      continue;
    const Operation& operation = operations[user];
    for (const loops::Place& each : operation.places)
      if (each.value == place && isNeededAlways_[user])
        return std::nullopt;
      else if (each.value == place)
        need = need ? apply(ScalarFunction::LogicalOr, {*need, *needs_[user]}) : needs_[user];
    for (size_t i = 0; i < operation.operands.size(); ++i) {
      if (operation.operands[i] != place)
        continue;
      auto counts = conditionOf(operations, user, i);
      if (!counts && isNeededAlways_[user])
        return std::nullopt;
      if (!isNeededAlways_[user])
        counts =
            counts ? apply(ScalarFunction::LogicalAnd, {*counts, *needs_[user]}) : needs_[user];
      need = need ? apply(ScalarFunction::LogicalOr, {*need, *counts}) : counts;
    }
  }
  return need;
}

void ValueCompiler::checkFailures(const Operations& operations,
                                  const std::vector<uint32_t>& roots) {
  isNeededAlways_.assign(operations.size(), 0);
  for (uint32_t root : roots)
    isNeededAlways_[root] = 1;
  // Those that may fail, and all that use them.
  std::vector<uint8_t> matters(operations.size());
  for (uint32_t i = 0; i < operations.size(); ++i) {
    matters[i] = isNeeded_[i] && mayFail(operations, operations[i]);
    loops::forEachValue(operations[i], [&](uint32_t value) { matters[i] |= matters[value]; });
  }
  needs_.assign(operations.size(), std::nullopt);
  for (uint32_t i = uint32_t(operations.size()); i-- > 0;)
    if (matters[i] && isNeeded_[i] && !isNeededAlways_[i]) {
      needs_[i] = needOf(operations, i);
      isNeededAlways_[i] = !needs_[i];
    }
  for (uint32_t i = 0; i < operations.size(); ++i) {
    if (!isNeeded_[i] || !mayFail(operations, operations[i]))
      continue;
    Value failure = failureOf(operations, i);
    std::optional<Value> need = needs_[i];
    bool isStrip = failure.isStrip || (need && need->isStrip);
    if (isStrip) {
      failure = asStrip(failure);
      need = need ? std::optional(asStrip(*need)) : need;
    }
    emitter_.emit({.code = Code::Check,
                   .a = failure.reg,
                   .b = need ? need->reg : none,
                   .c = accesses_[i],
                   .count = countOf(isStrip)});
  }
}

} // namespace strips
