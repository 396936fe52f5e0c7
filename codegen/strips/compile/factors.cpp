#include "codegen/strips/compile/factors.h"

#include "lower/loops/names.h"

namespace strips {

using loops::Operation;
using loops::OperationKind;

uint32_t productOf(const loops::Statement& statement) {
  uint32_t value = statement.stores[0].value;
  const Operation* operation = &statement.operations[value];
  if (operation->kind == OperationKind::Cast && operation->dtype.isFloat()) {
    value = operation->operands[0];
    operation = &statement.operations[value];
    if (!operation->dtype.isFloat())
      return loops::none;
  }
  bool isProduct = operation->kind == OperationKind::Apply && !operation->dtype.isBool() &&
                   operation->function == runtime::ScalarFunction::Multiply;
  return isProduct ? value : loops::none;
}

std::set<Name> namesOf(const Nest& nest, const loops::Statement& statement, uint32_t factor) {
  std::set<Name> names;
  auto add = [&](Form form) {
    for (Name name : nest.table.namesIn(form))
      names.insert(name);
  };
  std::vector<uint8_t> isNeeded(factor + 1);
  isNeeded[factor] = 1;
  for (uint32_t i = factor + 1; i-- > 0;) {
    const Operation& operation = statement.operations[i];
    if (!isNeeded[i])
      continue;
    if (operation.kind == OperationKind::Position)
      add(operation.position);
    for (const loops::Place& place : operation.places)
      if (place.value == loops::none)
        add(place.form);
    loops::forEachValue(operation, [&](uint32_t value) { isNeeded[value] = 1; });
  }
  return names;
}

FactorAxes::FactorAxes(const Nest& nest, const loops::Statement& statement) {
  const Operation& product = statement.operations[productOf(statement)];
  left = namesOf(nest, statement, product.operands[0]);
  right = namesOf(nest, statement, product.operands[1]);
}

} // namespace strips
