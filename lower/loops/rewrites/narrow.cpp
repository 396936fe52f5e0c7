// Sums of float32 added up in float32, as libraries of that type do; a matter of the policy of
// numbers, not of the order alone.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

namespace {

/// Makes a stored value one of float32, where it is a number, or was one before it was widened.
bool narrowStore(Statement& statement, Store& store) {
  Operation& value = statement.operations[store.value];
  if (value.kind == OperationKind::Cast &&
      statement.operations[value.operands[0]].dtype == runtime::Float32) {
    store.value = value.operands[0];
    return true;
  }
  if (value.kind != OperationKind::Number || statement.combiner)
    return false;
  statement.operations.push_back(
      {.kind = OperationKind::Cast, .dtype = runtime::Float32, .operands = {store.value}});
  store.value = uint32_t(statement.operations.size() - 1);
  return true;
}

/// Operations with what is read of a buffer converted to what it was.
void widenLoads(Statement& statement, uint32_t buffer) {
  std::vector<Operation> made;
  std::vector<uint32_t> places;
  for (Operation& operation : statement.operations) {
    renumber(operation, places);
    bool isRead = operation.kind == OperationKind::Load && operation.buffer == buffer;
    if (isRead)
      operation.dtype = runtime::Float32;
    made.push_back(std::move(operation));
    if (isRead)
      made.push_back({.kind = OperationKind::Cast,
                      .dtype = runtime::Float64,
                      .operands = {uint32_t(made.size() - 1)}});
    places.push_back(uint32_t(made.size() - 1));
  }
  for (Store& store : statement.stores)
    store.value = places[store.value];
  statement.operations = std::move(made);
}

} // namespace

void narrow(Nest& nest, Arguments arguments) {
  uint32_t buffer = findScratch(nest, arguments[0]);
  if (nest.numbers == Numbers::Reference)
    refuse("numbers are those of the reference, so sums are as wide as there");
  if (nest.buffers[buffer].dtype != runtime::Float64)
    refuse(fmt::format("`{}` is not of type float64", arguments[0]));
  nest.buffers[buffer].dtype = runtime::Float32;
  bool isSum = false;
  forEachNode(nest.body, [&](Node& node) {
    auto* statement = std::get_if<Statement>(&node.what);
    if (!statement || !uses(node, buffer))
      return;
    widenLoads(*statement, buffer);
    for (Store& store : statement->stores) {
      if (store.buffer != buffer)
        continue;
      isSum |= statement->combiner == Combiner::Sum;
      if (!narrowStore(*statement, store))
        refuse(fmt::format("what `{}` takes is more than numbers of float32", arguments[0]));
    }
  });
  if (!isSum)
    refuse(fmt::format("`{}` is no sum", arguments[0]));
}

} // namespace loops::rewrites
