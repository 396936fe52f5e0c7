#include "codegen/strips/compile/scan.h"

#include "lower/loops/names.h"

namespace strips {

namespace {

using loops::Operation;
using loops::OperationKind;
using runtime::ScalarFunction;

/// Whether a load reads what the statement makes one iteration earlier.
bool readsStepBefore(Nest& nest, const loops::Store& store, const Operation& load, Name variable) {
  if (load.kind != OperationKind::Load || load.buffer != store.buffer)
    return false;
  sizes::Table& table = nest.table;
  size_t steps = 0;
  for (size_t i = 0; i < load.places.size(); ++i) {
    if (load.places[i].value != loops::none || (load.places[i].isChecked && load.operands.empty()))
      return false;
    auto stride = sizes::slopeOf(table, store.position[i], variable);
    auto back = table.constantOf(table.sum(store.position[i], load.places[i].form, -1));
    bool isAlong = stride && table.constantOf(*stride) == 1;
    if (!stride || back != (isAlong ? 1 : 0) || (!isAlong && table.constantOf(*stride) != 0))
      return false;
    steps += isAlong;
  }
  return steps == 1;
}

} // namespace

std::optional<ScanStep> scanOf(Nest& nest, const loops::Statement& statement, Name variable) {
  const auto& operations = statement.operations;
  const loops::Store& store = statement.stores[0];
  const Operation& made = operations[store.value];
  bool multiplies = made.function == ScalarFunction::Multiply;
  bool isTotal =
      made.kind == OperationKind::Apply && (multiplies || made.function == ScalarFunction::Add) &&
      (made.dtype == runtime::Float64 || (made.dtype.isInteger() && made.dtype.bytes() >= 4));
  if (statement.combiner || !isTotal)
    return std::nullopt;
  for (size_t side : {0, 1}) {
    ScanStep step{made.operands[side], made.operands[1 - side], multiplies};
    if (!readsStepBefore(nest, store, operations[step.before], variable))
      continue;
    size_t uses = 0, own = 0;
    for (const Operation& operation : operations) {
      loops::forEachValue(operation, [&](uint32_t value) { uses += value == step.before; });
      own += operation.kind == OperationKind::Load && operation.buffer == store.buffer;
    }
    if (uses == 1 && own == 1)
      return step;
  }
  return std::nullopt;
}

} // namespace strips
