// Sums of float32, and of floats of 16 bits, added up in float32, as libraries of these types do; a
// matter of the policy of numbers, not of the order alone. And sums of whole numbers of which only
// the low bits are read: they wrap, so what is above those need not be added up.
#include "lower/loops/edit.h"
#include "lower/loops/names.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

namespace {

/// A float that is no wider as one of float32; of a product of floats of 16 bits the exact one,
/// which fits.
uint32_t asFloat32(Statement& statement, uint32_t value) {
  Operation made = statement.operations[value];
  if (made.dtype == runtime::Float32)
    return value;
  if (made.kind != OperationKind::Apply || made.function != runtime::ScalarFunction::Multiply)
    return addCast(statement, value, runtime::Float32);
  made.dtype = runtime::Float32;
  for (uint32_t& operand : made.operands)
    operand = addCast(statement, operand, runtime::Float32);
  return addOperation(statement, std::move(made));
}

/// Makes a stored value one of float32, where it is a number, or was no wider before it was
/// widened.
bool narrowStore(Statement& statement, Store& store) {
  const Operation value = statement.operations[store.value];
  if (value.kind == OperationKind::Number && !statement.combiner) {
    store.value = addCast(statement, store.value, runtime::Float32);
    return true;
  }
  if (value.kind != OperationKind::Cast)
    return false;
  const DType dtype = statement.operations[value.operands[0]].dtype;
  if (!dtype.isFloat() || dtype.bits > 32)
    return false;
  store.value = asFloat32(statement, value.operands[0]);
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

bool isLowBits(DType dtype) {
  return dtype.isInteger() && dtype.bytes() <= 4;
}

/// What has the low bits of a value.
uint32_t lowBits(Statement& statement, uint32_t value) {
  const Operation made = statement.operations[value];
  if (made.kind == OperationKind::Number)
    return addOperation(statement, {.kind = OperationKind::Number,
                                    .dtype = runtime::Int32,
                                    .integer = int32_t(uint64_t(made.integer))});
  bool isWidened =
      made.kind == OperationKind::Cast && !statement.operations[made.operands[0]].dtype.isFloat();
  uint32_t from = isWidened ? made.operands[0] : value;
  if (statement.operations[from].dtype == runtime::Int32)
    return from;
  return addCast(statement, from, runtime::Int32);
}

/// Reads low bits where a buffer is read; false where more is needed.
bool narrowReads(Statement& statement, uint32_t buffer) {
  std::vector<Operation> made;
  std::vector<uint32_t> places;
  std::vector<uint8_t> isNarrow;
  bool isEnough = true;
  for (Operation operation : statement.operations) {
    bool isCast = operation.kind == OperationKind::Cast && isLowBits(operation.dtype);
    forEachValue(operation, [&](uint32_t value) { isEnough &= isCast || !isNarrow[value]; });
    bool isRead = operation.kind == OperationKind::Load && operation.buffer == buffer;
    isNarrow.push_back(isRead);
    if (isCast && operation.dtype == runtime::Int32 && isNarrow[operation.operands[0]]) {
      places.push_back(places[operation.operands[0]]);
      continue;
    }
    renumber(operation, places);
    if (isRead)
      operation.dtype = runtime::Int32;
    made.push_back(std::move(operation));
    places.push_back(uint32_t(made.size() - 1));
  }
  for (Store& store : statement.stores) {
    isEnough &= !isNarrow[store.value];
    store.value = places[store.value];
  }
  statement.operations = std::move(made);
  return isEnough;
}

void narrowWhole(Nest& nest, uint32_t buffer) {
  nest.buffers[buffer].dtype = runtime::Int32;
  forEachNode(nest.body, [&](Node& node) {
    auto* statement = std::get_if<Statement>(&node.what);
    if (!statement || !uses(node, buffer))
      return;
    bool wraps = !statement->combiner || statement->combiner == Combiner::Sum ||
                 statement->combiner == Combiner::Product;
    if (!narrowReads(*statement, buffer) || statement->stores.size() != 1 || !wraps)
      refuse(fmt::format("more than the low bits of `{}` are read", nest.buffers[buffer].name));
    if (Store& store = statement->stores[0]; store.buffer == buffer)
      store.value = lowBits(*statement, store.value);
  });
}

} // namespace

void narrow(Nest& nest, Arguments arguments) {
  uint32_t buffer = findScratch(nest, arguments[0]);
  if (nest.buffers[buffer].dtype == runtime::Int64)
    return narrowWhole(nest, buffer);
  if (nest.numbers == Numbers::Reference)
    refuse("numbers are those of the reference, so sums are as wide as there");
  if (nest.buffers[buffer].dtype != runtime::Float64)
    refuse(fmt::format("`{}` is neither of type float64 nor of int64", arguments[0]));
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
