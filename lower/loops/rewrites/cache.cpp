// What a loop, or one iteration of it, reads of a buffer, copied to scratch first: the part of the
// buffer as it lies there, or its elements in the order in which the loops read them. Places
// outside of the buffer are elements of the copy, with the number that counts for them.
#include "lower/loops/edit.h"
#include "lower/loops/read_form.h"
#include "lower/loops/rewrite.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace loops::rewrites {

namespace {

/// The loops below a node, innermost last.
std::vector<Loop> loopsBelow(const Node& node) {
  std::vector<Loop> loops;
  forEachNode(node.body, [&](const Node& each) {
    if (const auto* loop = std::get_if<Loop>(&each.what))
      loops.push_back(*loop);
  });
  return loops;
}

/// Where a form begins, and how many values it takes on, while the loops below run; it must grow
/// with each of their variables.
std::pair<Form, Form> rangeOf(Nest& nest, const sizes::Facts& facts, Form form,
                              const std::vector<Loop>& loops) {
  sizes::Table& table = nest.table;
  Form begin = form, last = form;
  for (size_t i = loops.size(); i-- > 0;) {
    Form one = table.number(1), variable = variableForm(nest, loops[i].variable);
    Form next = table.replaced(form, {{loops[i].variable, table.sum(variable, one)}});
    if (!table.mentions(form, loops[i].variable))
      continue;
    if (!facts.proves(table.sum(next, form, -1), table.number(0)))
      refuse(fmt::format("`{}` does not grow with `{}`", table.text(form), table.text(variable)));
    begin = table.replaced(begin, {{loops[i].variable, table.number(0)}});
    last = table.replaced(last, {{loops[i].variable, table.sum(loops[i].end, one, -1)}});
  }
  Form extent = table.sum(table.sum(last, begin, -1), table.number(1));
  return {facts.simplified(begin), facts.simplified(extent)};
}

/// How a buffer is read below a node: at these places; outside of them this number counts, if there
/// is one.
struct Reading {
  std::vector<Form> places;
  std::optional<Operation> outside;
};

bool isSameOutside(const std::optional<Operation>& a, const std::optional<Operation>& b) {
  if (!a || !b)
    return a.has_value() == b.has_value();
  return a->dtype == b->dtype && a->integer == b->integer &&
         std::bit_cast<uint64_t>(a->real) == std::bit_cast<uint64_t>(b->real);
}

/// A number that a load has for places outside.
std::optional<Operation> outsideOf(const Statement& statement, const Operation& load) {
  if (load.operands.empty())
    return std::nullopt;
  const Operation& number = statement.operations[load.operands[0]];
  if (number.kind != OperationKind::Number)
    refuse("what counts outside is no number");
  return number;
}

Reading readingOf(const Statement& statement, const Operation& load) {
  Reading reading{{}, outsideOf(statement, load)};
  for (const Place& place : load.places) {
    if (place.value != none || place.isChecked)
      refuse("it is read at places that are values, or that may be outside");
    reading.places.push_back(place.form);
  }
  return reading;
}

/// The only way in which a buffer is read below; refuses where there are others.
Reading onlyReading(Nest& nest, Node& node, uint32_t buffer) {
  std::optional<Reading> found;
  forEachNode(node.body, [&](Node& each) {
    const auto* statement = std::get_if<Statement>(&each.what);
    if (!statement)
      return;
    for (const Store& store : statement->stores)
      if (store.buffer == buffer)
        refuse("it is written in the loop");
    for (const Operation& load : statement->operations) {
      if (load.kind != OperationKind::Load || load.buffer != buffer)
        continue;
      Reading own = readingOf(*statement, load);
      if (found && (found->places != own.places || !isSameOutside(found->outside, own.outside)))
        refuse("it is read in several ways");
      found = std::move(own);
    }
  });
  if (!found)
    refuse(fmt::format("`{}` is not read in the loop", nest.buffers[buffer].name));
  return *std::move(found);
}

uint32_t bufferNamed(const Nest& nest, const std::string& name) {
  auto buffer = findBuffer(nest, name);
  if (!buffer)
    refuse(fmt::format("there is no buffer `{}`", name));
  return *buffer;
}

/// Has what is read below a node be read from a copy.
void readCopy(Node& node, uint32_t buffer, uint32_t copy, const std::vector<Form>& places) {
  forEachAccess(
      node.body, buffer, [](std::vector<Form>&) {},
      [&](Operation& load) {
        load.buffer = copy;
        load.operands.clear();
        load.places.clear();
        for (Form place : places)
          load.places.push_back({place});
      });
}

/// Loops that fill a copy, each of its dimensions by one, with what is read at `places`.
void insertCopy(Nest& nest, const Reading& reading, uint32_t buffer, uint32_t copy,
                const std::vector<Loop>& made, std::vector<Form> places, std::vector<Node>& target,
                size_t at) {
  Statement statement;
  Operation load{
      .kind = OperationKind::Load, .dtype = nest.buffers[buffer].dtype, .buffer = buffer};
  if (reading.outside) {
    statement.operations.push_back(*reading.outside);
    load.operands = {0};
  }
  for (Form place : places)
    load.places.push_back({place});
  statement.operations.push_back(std::move(load));
  Store store{copy, {}, uint32_t(statement.operations.size() - 1)};
  for (const Loop& loop : made)
    store.position.push_back(variableForm(nest, loop.variable));
  statement.stores.push_back(std::move(store));
  std::vector<Node> body;
  body.push_back({std::move(statement)});
  for (size_t i = made.size(); i-- > 0;) {
    std::vector<Node> outer;
    outer.push_back({made[i], std::move(body)});
    body = std::move(outer);
  }
  target.insert(target.begin() + ptrdiff_t(at), std::make_move_iterator(body.begin()),
                std::make_move_iterator(body.end()));
  target.insert(target.begin() + ptrdiff_t(at), Node{Allocation{copy}});
}

/// Copies the part that is read while `loops` run, into a body in front of one of its nodes.
void copyPart(Nest& nest, const std::string& name, const std::string& loopName, Spot& spot,
              sizes::Facts inside, const std::vector<Loop>& loops, std::vector<Node>& target,
              size_t at) {
  uint32_t buffer = bufferNamed(nest, name);
  sizes::Table& table = nest.table;
  Reading reading = onlyReading(nest, spot.node(), buffer);
  for (const Loop& loop : loops)
    inside.enter(loop.variable, loop.end);
  std::vector<Form> begins, extents, from, to;
  for (Form place : reading.places) {
    auto [begin, extent] = rangeOf(nest, inside, place, loops);
    begins.push_back(begin);
    extents.push_back(extent);
    to.push_back(table.sum(place, begin, -1));
  }
  uint32_t copy = freshBuffer(nest, name + "c", nest.buffers[buffer].dtype, extents);
  readCopy(spot.node(), buffer, copy, to);
  std::vector<Loop> made;
  for (size_t i = 0; i < extents.size(); ++i) {
    made.push_back({freshVariable(nest, loopName + "c"), extents[i]});
    from.push_back(table.sum(begins[i], variableForm(nest, made[i].variable)));
  }
  insertCopy(nest, reading, buffer, copy, made, from, target, at);
}

/// A copy in front of a node that has the same elements in the same order as the one that `made`
/// would fill with what is read at `places`.
std::optional<uint32_t> copyInFront(Nest& nest, const Spot& spot, const Reading& reading,
                                    uint32_t buffer, const std::vector<Loop>& made,
                                    const std::vector<Form>& places) {
  for (size_t at = 0; at < spot.at; ++at) {
    const Node* next = &(*spot.body)[at];
    std::map<Name, Form> names;
    size_t depth = 0;
    for (; depth < made.size(); ++depth, next = &next->body[0]) {
      const auto* loop = std::get_if<Loop>(&next->what);
      if (!loop || next->body.size() != 1 || loop->end != made[depth].end)
        break;
      names.emplace(loop->variable, variableForm(nest, made[depth].variable));
    }
    const auto* statement = std::get_if<Statement>(&next->what);
    if (depth < made.size() || !statement || statement->combiner ||
        nest.buffers[statement->stores[0].buffer].space != Space::Scratch)
      continue;
    const Operation& load = statement->operations.back();
    if (load.kind != OperationKind::Load || load.buffer != buffer || statement->stores.size() > 1)
      continue;
    Reading own = readingOf(*statement, load);
    for (Form& place : own.places)
      place = nest.table.replaced(place, names);
    std::vector<Form> stored = statement->stores[0].position, variables;
    for (Form& position : stored)
      position = nest.table.replaced(position, names);
    for (const Loop& loop : made)
      variables.push_back(variableForm(nest, loop.variable));
    if (own.places == places && stored == variables && isSameOutside(own.outside, reading.outside))
      return statement->stores[0].buffer;
  }
  return std::nullopt;
}

} // namespace

void cache(Nest& nest, Arguments arguments) {
  Spot spot = findLoop(nest, arguments[1]);
  sizes::Facts inside = spot.facts;
  enter(inside, nest.table, spot.node());
  copyPart(nest, arguments[0], arguments[1], spot, inside, loopsBelow(spot.node()),
           spot.node().body, 0);
}

void pack(Nest& nest, Arguments arguments) {
  Spot spot = findLoop(nest, arguments[1]);
  std::vector<Loop> loops = loopsBelow(spot.node());
  loops.insert(loops.begin(), spot.loop());
  copyPart(nest, arguments[0], arguments[1], spot, spot.facts, loops, *spot.body, spot.at);
}

void lineUp(Nest& nest, Arguments arguments) {
  Spot spot = findLoop(nest, arguments[1]);
  sizes::Table& table = nest.table;
  uint32_t buffer = bufferNamed(nest, arguments[0]);
  Reading reading = onlyReading(nest, spot.node(), buffer);
  std::vector<Loop> loops = loopsBelow(spot.node());
  loops.insert(loops.begin(), spot.loop());
  auto isMentioned = [&](const Form& form, Name variable) {
    return table.mentions(form, variable);
  };
  std::erase_if(loops, [&](const Loop& loop) {
    return std::ranges::none_of(
        reading.places, [&](const Form& place) { return isMentioned(place, loop.variable); });
  });
  std::vector<Loop> made;
  std::vector<Form> extents, to;
  std::map<Name, Form> names;
  for (const Loop& loop : loops) {
    if (std::ranges::any_of(
            loops, [&](const Loop& other) { return isMentioned(loop.end, other.variable); }))
      refuse(fmt::format("where `{}` ends hangs on others", table.textOf(loop.variable)));
    made.push_back({freshVariable(nest, table.textOf(loop.variable) + "c"), loop.end});
    extents.push_back(loop.end);
    to.push_back(variableForm(nest, loop.variable));
    names.emplace(loop.variable, variableForm(nest, made.back().variable));
  }
  std::vector<Form> from;
  for (Form place : reading.places)
    from.push_back(table.replaced(place, names));
  if (auto known = copyInFront(nest, spot, reading, buffer, made, from))
    return readCopy(spot.node(), buffer, *known, to);
  uint32_t copy = freshBuffer(nest, arguments[0] + "c", nest.buffers[buffer].dtype, extents);
  readCopy(spot.node(), buffer, copy, to);
  insertCopy(nest, reading, buffer, copy, made, from, *spot.body, spot.at);
}

} // namespace loops::rewrites
