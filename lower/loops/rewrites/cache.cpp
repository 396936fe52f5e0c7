// The part of a buffer that a loop, or one iteration of it, reads, copied to scratch first.
#include "lower/loops/edit.h"
#include "lower/loops/read_form.h"
#include "lower/loops/rewrite.h"

#include <algorithm>
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

/// The places of the only way in which a buffer is read below; refuses where there are others.
std::vector<Form> placesOf(Nest& nest, Node& node, uint32_t buffer) {
  std::optional<std::vector<Form>> places;
  forEachAccess(
      node.body, buffer, [&](std::vector<Form>&) { refuse("it is written in the loop"); },
      [&](Operation& load) {
        std::vector<Form> own;
        for (const Place& place : load.places) {
          if (place.value != none || place.isChecked || !load.operands.empty())
            refuse("it is read at places that may be outside");
          own.push_back(place.form);
        }
        if (places && *places != own)
          refuse("it is read in several ways");
        places = std::move(own);
      });
  if (!places)
    refuse(fmt::format("`{}` is not read in the loop", nest.buffers[buffer].name));
  return *places;
}

/// Copies what runs while `loops` do, into a body in front of one of its nodes.
void copyFirst(Nest& nest, const std::string& name, const std::string& loopName, Spot& spot,
               sizes::Facts inside, const std::vector<Loop>& loops, std::vector<Node>& target,
               size_t at) {
  auto buffer = findBuffer(nest, name);
  if (!buffer)
    refuse(fmt::format("there is no buffer `{}`", name));
  sizes::Table& table = nest.table;
  std::vector<Form> places = placesOf(nest, spot.node(), *buffer);
  for (const Loop& loop : loops)
    inside.enter(loop.variable, loop.end);
  std::vector<Form> begins, extents;
  for (Form place : places) {
    auto [begin, extent] = rangeOf(nest, inside, place, loops);
    begins.push_back(begin);
    extents.push_back(extent);
  }
  DType dtype = nest.buffers[*buffer].dtype;
  uint32_t copy = freshBuffer(nest, name + "c", dtype, extents);
  forEachAccess(
      spot.node().body, *buffer, [](std::vector<Form>&) {},
      [&](Operation& load) {
        load.buffer = copy;
        for (size_t i = 0; i < places.size(); ++i)
          load.places[i].form = table.sum(places[i], begins[i], -1);
      });
  Operation load{.kind = OperationKind::Load, .dtype = dtype, .buffer = *buffer};
  Store store{copy, {}, 0};
  std::vector<Loop> made;
  for (size_t i = 0; i < extents.size(); ++i) {
    made.push_back({freshVariable(nest, loopName + "c"), extents[i]});
    Form variable = variableForm(nest, made[i].variable);
    store.position.push_back(variable);
    load.places.push_back({table.sum(begins[i], variable)});
  }
  std::vector<Node> body;
  body.push_back({Statement{{load}, std::nullopt, {store}, {}}});
  for (size_t i = made.size(); i-- > 0;) {
    std::vector<Node> outer;
    outer.push_back({made[i], std::move(body)});
    body = std::move(outer);
  }
  target.insert(target.begin() + ptrdiff_t(at), std::make_move_iterator(body.begin()),
                std::make_move_iterator(body.end()));
  target.insert(target.begin() + ptrdiff_t(at), Node{Allocation{copy}});
}

} // namespace

void cache(Nest& nest, Arguments arguments) {
  Spot spot = findLoop(nest, arguments[1]);
  sizes::Facts inside = spot.facts;
  enter(inside, nest.table, spot.node());
  copyFirst(nest, arguments[0], arguments[1], spot, inside, loopsBelow(spot.node()),
            spot.node().body, 0);
}

void pack(Nest& nest, Arguments arguments) {
  Spot spot = findLoop(nest, arguments[1]);
  std::vector<Loop> loops = loopsBelow(spot.node());
  loops.insert(loops.begin(), spot.loop());
  copyFirst(nest, arguments[0], arguments[1], spot, spot.facts, loops, *spot.body, spot.at);
}

} // namespace loops::rewrites
