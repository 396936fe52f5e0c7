// Iterations behind the end of a sum that add 0: products of numbers that count as 0 there, so what
// runs several iterations at once leaves none over. Only of whole numbers: 0 times an infinite one
// is none.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

namespace {

Statement& onlyJoiner(const Nest& nest, Node& loop) {
  Statement* found = nullptr;
  bool isOne = true;
  forEachNode(loop.body, [&](Node& node) {
    if (auto* statement = std::get_if<Statement>(&node.what)) {
      isOne = isOne && !found;
      found = statement;
    }
    isOne = isOne && !std::holds_alternative<Allocation>(node.what);
  });
  if (!isOne || !found || found->combiner != Combiner::Sum ||
      !nest.buffers[found->stores[0].buffer].dtype.isInteger())
    refuse("it is no loop over one sum of whole numbers");
  return *found;
}

/// Operations with 0 for what is read behind the end of a loop.
void addZeros(Nest& nest, Statement& statement, Name variable) {
  std::vector<Operation> made;
  std::vector<uint32_t> places;
  for (Operation& operation : statement.operations) {
    renumber(operation, places);
    bool isOfLoop = false;
    for (const Place& place : operation.places) {
      if (place.value != none || place.isChecked)
        refuse("it reads at places that are values, or that may be outside");
      isOfLoop |= nest.table.mentions(place.form, variable);
    }
    if (operation.kind == OperationKind::Position &&
        nest.table.mentions(operation.position, variable))
      refuse("it computes with positions");
    if (isOfLoop && !operation.operands.empty() &&
        (made[operation.operands[0]].kind != OperationKind::Number ||
         made[operation.operands[0]].integer != 0 || operation.dtype.isFloat()))
      refuse("it reads what counts as something else than 0 outside");
    if (isOfLoop && operation.operands.empty()) {
      made.push_back({.kind = OperationKind::Number, .dtype = operation.dtype});
      operation.operands = {uint32_t(made.size() - 1)};
    }
    made.push_back(std::move(operation));
    places.push_back(uint32_t(made.size() - 1));
  }
  for (Store& store : statement.stores)
    store.value = places[store.value];
  statement.operations = std::move(made);
}

/// Whether a value is 0 behind the end of a loop.
bool isZeroBehind(const Nest& nest, const Statement& statement, uint32_t value, const Loop& loop) {
  const Operation& operation = statement.operations[value];
  if (operation.dtype.isFloat())
    return false;
  if (operation.kind == OperationKind::Load) {
    for (size_t i = 0; i < operation.places.size(); ++i)
      if (nest.table.nameOf(operation.places[i].form) == loop.variable &&
          nest.buffers[operation.buffer].extents[i] == loop.end)
        return true;
    return false;
  }
  if (operation.kind == OperationKind::Cast)
    return isZeroBehind(nest, statement, operation.operands[0], loop);
  bool isProduct = operation.kind == OperationKind::Apply &&
                   operation.function == runtime::ScalarFunction::Multiply;
  return isProduct && (isZeroBehind(nest, statement, operation.operands[0], loop) ||
                       isZeroBehind(nest, statement, operation.operands[1], loop));
}

} // namespace

void roundUp(Nest& nest, Arguments arguments) {
  Spot spot = findLoop(nest, arguments[0]);
  sizes::Table& table = nest.table;
  Form piece = table.number(numberAbove0(arguments[1]));
  Statement& statement = onlyJoiner(nest, spot.node());
  Loop& loop = spot.loop();
  addZeros(nest, statement, loop.variable);
  if (!isZeroBehind(nest, statement, statement.stores[0].value, loop))
    refuse(fmt::format("what is added is no product of an element that `{}` counts", arguments[0]));
  Form end = table.product(table.pieces(loop.end, piece), piece);
  bool isCounted = false;
  for (Reduced& axis : statement.reduced) {
    if (!table.mentions(axis.position, loop.variable))
      continue;
    if (table.nameOf(axis.position) != loop.variable || axis.extent != loop.end)
      refuse(fmt::format("`{}` is no coordinate of the sum", arguments[0]));
    axis.extent = end;
    isCounted = true;
  }
  if (!isCounted)
    refuse(fmt::format("nothing is added up over `{}`", arguments[0]));
  loop.end = end;
}

} // namespace loops::rewrites
