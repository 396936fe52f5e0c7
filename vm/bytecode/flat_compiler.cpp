// The ends of functions that give the fields of a tuple in registers (flat_results.h), and what
// callers make of them: variables for the fields where the tuple is only taken apart, else a tuple.
#include "vm/bytecode/passing.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

bool FunctionCompiler::isFlat() const {
  return !instance_.isClosure && instance_.global && instances_.isFlat(*instance_.global);
}

/// Fields that are in a row of registers, on their way elsewhere.
std::vector<FunctionCompiler::Passing>
FunctionCompiler::flatPassings(uint16_t base, std::span<const Rep> fields) const {
  std::vector<Passing> passings;
  for (size_t i = 0; i < fields.size(); ++i)
    passings.push_back({Passing::Move, uint16_t(base + i), true, !fields[i].isScalar()});
  return passings;
}

/// Ends the call with fields, each of which is passed or is an operand.
void FunctionCompiler::returnFields(std::vector<Passing> passings,
                                    std::span<const Operand> operands, const Callee& callee) {
  if (sizes_)
    code_.emit(Op::Release, *sizes_);
  fillFirst(std::move(passings), operands, callee);
  code_.emit(Op::ReturnFlat);
}

/// Ends the call with a tuple that the last binding makes.
void FunctionCompiler::returnTuple(Scope& scope, const TupleExpr& tuple) {
  Types types = instances_.typing.result(function_)->parts;
  Callee callee{.owned = std::vector<bool>(types.size(), true),
                .types = {types.begin(), types.end()}};
  if (auto memory = memoryFor(scope, scope.at, types.size())) {
    code_.emit(Op::FreeToken, *memory);
    registers_.free(*memory);
  }
  std::vector<Passing> passings = passAll(scope, tuple.fields, callee);
  returnFields(passings, tuple.fields, callee);
  freePassed(passings, tuple.fields);
}

/// The bindings that take the fields out of a tuple, in the order of the fields, null for those
/// that nobody wants; nothing where the tuple itself is wanted, or a field more than once.
std::optional<std::vector<const Binding*>>
FunctionCompiler::fieldsTaken(const Scope& scope, const Var& tuple, size_t fields) const {
  std::span<const Usage::Projection> projections = usage_.projections(tuple);
  std::vector<const Binding*> taken(fields);
  if (projections.empty() || projections.size() != usage_.count(tuple))
    return std::nullopt;
  for (const Usage::Projection& each : projections) {
    const Binding& field = scope.block.bindings[each.binding];
    if (each.block != &scope.block || made_.boundaries->typeOf(*field.var) ||
        !usage_.last(scope.block, *field.var) ||
        std::exchange(taken[field.value->as<Project>()->index], &field))
      return std::nullopt;
  }
  return taken;
}

/// The fields of a call's result are in a row of registers.
void FunctionCompiler::receiveFlat(Scope& scope, const Binding& binding, uint16_t base,
                                   std::span<const Rep> fields) {
  bool isCompared = made_.boundaries->typeOf(*binding.var) != nullptr;
  auto taken = isCompared ? std::nullopt : fieldsTaken(scope, *binding.var, fields.size());
  std::vector<uint16_t> registers;
  for (size_t i = 0; i < fields.size(); ++i) {
    auto reg = uint16_t(base + i);
    registers.push_back(reg);
    if (taken && (*taken)[i]) {
      takenApart_.insert((*taken)[i]);
      hold(*(*taken)[i]->var, fields[i], reg, scope.level);
      continue;
    }
    if (taken && !fields[i].isScalar())
      code_.emit(Op::Release, reg);
    registers_.free(reg);
  }
  if (taken)
    return;
  uint16_t layout = made_.layouts.tuple({fields.begin(), fields.end()});
  uint16_t reg = registerFor(scope, binding);
  code_.emitFields(Op::Make, reg, layout, vm::none, registers);
  define(scope, binding, reference, reg);
}

} // namespace bytecode
