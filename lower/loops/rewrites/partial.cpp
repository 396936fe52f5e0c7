// Several accumulators for one, which are joined at the end: one for each iteration of a loop.
// Where that stands innermost, each takes every so-many-th value, and the loop can run as lanes.
// Where it stands around others, each is a scratch of its own while they run, and threads can share
// it.
#include "lower/loops/edit.h"
#include "lower/loops/names.h"
#include "lower/loops/rewrite.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace loops::rewrites {

namespace {

/// The statements that write a buffer: one that makes it, one that joins to it in a loop, and one
/// that joins what that loop leaves over, if there is one.
struct Accumulation {
  Statement *maker = nullptr, *joiner = nullptr, *rest = nullptr;
};

Accumulation accumulationOf(Nest& nest, uint32_t buffer, Node& loop) {
  Accumulation found;
  bool isSimple = nest.buffers[buffer].extents.empty();
  auto note = [&](Statement*& place, Statement& statement) {
    isSimple = isSimple && !place && statement.stores.size() == 1;
    place = &statement;
  };
  auto writes = [&](const Node& node) {
    const auto* statement = std::get_if<Statement>(&node.what);
    return statement &&
           std::ranges::find(statement->stores, buffer, &Store::buffer) != statement->stores.end();
  };
  std::set<const Node*> inside;
  forEachNode(loop.body, [&](Node& node) { inside.insert(&node); });
  forEachNode(nest.body, [&](Node& node) {
    if (!writes(node))
      return;
    auto& statement = std::get<Statement>(node.what);
    note(!statement.combiner      ? found.maker
         : inside.contains(&node) ? found.joiner
                                  : found.rest,
         statement);
  });
  if (!isSimple || !found.maker || !found.joiner || findsPlace(*found.joiner->combiner))
    refuse(
        fmt::format("`{}` is no accumulator of one element, made by one statement, and joined by "
                    "one in the loop and at most one behind it",
                    nest.buffers[buffer].name));
  return found;
}

/// Whether joining what a statement makes several times gives the same as once.
bool startsNeutral(const Statement& maker, Combiner combiner) {
  const Operation& start = maker.operations[maker.stores[0].value];
  if (start.kind != OperationKind::Number)
    return false;
  double number = start.dtype.isFloat() ? start.real : double(start.integer);
  return combiner == Combiner::Sum ? number == 0 : combiner != Combiner::Product || number == 1;
}

/// Makes two coordinates of one: what a joiner in front goes through, and what is left for another.
void partCoordinates(Nest& nest, Statement& joiner, Statement& rest, const Loop& loop,
                     const sizes::Facts& facts) {
  sizes::Table& table = nest.table;
  if (rest.reduced.size() != joiner.reduced.size())
    refuse("what is left over is joined in another way");
  for (size_t i = 0; i < joiner.reduced.size(); ++i) {
    Reduced &axis = joiner.reduced[i], &behind = rest.reduced[i];
    if (!table.mentions(axis.position, loop.variable))
      continue;
    // Where what is left begins: all loops that the other one does not share are at 0.
    Form begin = behind.position;
    for (Name name : table.namesIn(behind.position))
      if (!table.mentions(axis.position, name) &&
          std::ranges::none_of(nest.sizes,
                               [&](const Assumption& each) { return each.size == name; }))
        begin = table.replaced(begin, {{name, table.number(0)}});
    Form left = table.sum(axis.extent, begin, -1);
    axis.extent = facts.simplified(begin);
    behind = {facts.simplified(table.sum(behind.position, begin, -1)), facts.simplified(left)};
    return;
  }
  refuse(fmt::format("nothing is joined over `{}`", table.textOf(loop.variable)));
}

/// Takes the variable out of the coordinate that it is the last digit of, or the first one.
void takeOut(Nest& nest, Statement& joiner, const Loop& loop, const sizes::Facts& facts) {
  sizes::Table& table = nest.table;
  for (Reduced& axis : joiner.reduced) {
    if (!table.mentions(axis.position, loop.variable))
      continue;
    Form position = facts.simplified(table.quotient(axis.position, loop.end));
    Form remade = table.sum(table.product(position, loop.end), variableForm(nest, loop.variable));
    Form extent = table.quotient(axis.extent, loop.end);
    Form behind = facts.simplified(
        table.sum(axis.position, table.product(variableForm(nest, loop.variable), extent), -1));
    if (!table.mentions(behind, loop.variable) &&
        facts.areSame(table.product(extent, loop.end), axis.extent)) {
      axis = {behind, facts.simplified(extent)};
      return;
    }
    if (remade != axis.position || !facts.areSame(table.product(extent, loop.end), axis.extent))
      refuse(fmt::format("`{}` is not the last part of a coordinate that it divides",
                         table.textOf(loop.variable)));
    axis = {position, facts.simplified(extent)};
    if (axis.extent == table.number(1))
      std::erase_if(joiner.reduced, [&](const Reduced& each) { return &each == &axis; });
    return;
  }
  refuse(fmt::format("nothing is joined over `{}`", table.textOf(loop.variable)));
}

/// Stores an element of a buffer, at a place if it has more than one, in one of no dimensions.
Statement copyOf(uint32_t from, DType dtype, std::optional<Form> place, uint32_t to) {
  Operation load{.kind = OperationKind::Load, .dtype = dtype, .buffer = from};
  if (place)
    load.places = {{*place}};
  return {{load}, {}, {{to, {}, 0}}};
}

} // namespace

void partial(Nest& nest, Arguments arguments) {
  uint32_t buffer = findScratch(nest, arguments[0]);
  if (nest.numbers == Numbers::Reference && nest.buffers[buffer].dtype.isFloat())
    refuse("numbers are those of the reference, so sums keep their order");
  Spot spot = findLoop(nest, arguments[1]);
  Loop loop = spot.loop();
  sizes::Facts inside = spot.facts;
  enter(inside, nest.table, spot.node());
  if (!uses(spot.node(), buffer))
    refuse(fmt::format("`{}` is not joined in `{}`", arguments[0], arguments[1]));
  Accumulation accumulation = accumulationOf(nest, buffer, spot.node());
  if (!startsNeutral(*accumulation.maker, *accumulation.joiner->combiner))
    refuse(fmt::format("`{}` starts with what would be joined several times", arguments[0]));
  if (accumulation.rest)
    partCoordinates(nest, *accumulation.joiner, *accumulation.rest, loop, inside);
  takeOut(nest, *accumulation.joiner, loop, inside);
  DType dtype = nest.buffers[buffer].dtype;
  uint32_t parts = freshBuffer(nest, arguments[0] + "p", dtype, {loop.end});
  const bool isInnermost = std::ranges::any_of(spot.node().body, [&](const Node& node) {
    return std::get_if<Statement>(&node.what) == accumulation.joiner;
  });
  Name ends = freshVariable(nest, arguments[1]);
  Statement end = copyOf(parts, dtype, variableForm(nest, ends), buffer);
  end.combiner = accumulation.joiner->combiner;
  end.reduced = {{variableForm(nest, ends), loop.end}};
  Statement start = *accumulation.maker;
  std::vector<Node> before = {{Allocation{parts}}};
  if (isInnermost) {
    Name starts = freshVariable(nest, arguments[1]);
    start.stores[0] = {parts, {variableForm(nest, starts)}, start.stores[0].value};
    before.push_back({Loop{starts, loop.end}, {{start}}});
    accumulation.joiner->stores[0].buffer = parts;
    accumulation.joiner->stores[0].position = {variableForm(nest, loop.variable)};
  } else {
    uint32_t own = freshBuffer(nest, arguments[0] + "o", dtype, {});
    start.stores[0].buffer = accumulation.joiner->stores[0].buffer = own;
    Statement keep = copyOf(own, dtype, std::nullopt, parts);
    keep.stores[0].position = {variableForm(nest, loop.variable)};
    std::vector<Node>& body = spot.node().body;
    body.insert(body.begin(), {{Allocation{own}}, {start}});
    body.push_back({keep});
  }
  std::vector<Node>& body = *findAllocation(nest, buffer).body;
  auto joined = std::ranges::find_if(body, [&](const Node& node) { return uses(node, parts); });
  auto at = joined - body.begin();
  body.insert(body.begin() + at + 1, Node{Loop{ends, loop.end}, {{end}}});
  body.insert(body.begin() + at, before.begin(), before.end());
}

} // namespace loops::rewrites
