// Names are those of the nest, so that most steps find what they are about.
#include "tests/harness/random_schedule.h"

#include "lower/loops/edit.h"

#include <algorithm>
#include <fmt/format.h>

namespace harness {

namespace {

using namespace loops;

struct Names {
  std::vector<std::string> loops, scratch, sizes;
};

void collect(const Nest& nest, const std::vector<Node>& nodes, Names& names) {
  forEachNode(nodes, [&](const Node& node) {
    if (const auto* loop = std::get_if<Loop>(&node.what))
      names.loops.push_back(nest.table.textOf(loop->variable));
    else if (const auto* allocation = std::get_if<Allocation>(&node.what))
      names.scratch.push_back(nest.buffers[allocation->buffer].name);
  });
}

std::string drawn(const std::vector<std::string>& names, Random& random) {
  return names.empty() ? "nothing" : names[random.index(names.size())];
}

/// Loops of which the second often stands right in or behind the first.
std::pair<std::string, std::string> twoLoops(const Names& names, Random& random) {
  if (names.loops.size() < 2)
    return {drawn(names.loops, random), drawn(names.loops, random)};
  size_t first = random.index(names.loops.size() - 1);
  size_t last = std::min(names.loops.size() - 1, first + 1 + random.index(2));
  return {names.loops[first], names.loops[last]};
}

/// A body with something in it.
std::vector<Node>* drawnBody(Nest& nest, Random& random) {
  std::vector<std::vector<Node>*> bodies{&nest.body};
  forEachNode(nest.body, [&](Node& node) {
    if (!node.body.empty())
      bodies.push_back(&node.body);
  });
  std::vector<Node>* body = bodies[random.index(bodies.size())];
  return body->empty() ? nullptr : body;
}

/// A step that may apply to a nest, or may not: a rewrite with names and numbers of the nest.
Step drawStep(const Nest& nest, Random& random) {
  Names names;
  collect(nest, nest.body, names);
  for (const Assumption& size : nest.sizes)
    names.sizes.push_back(nest.table.textOf(size.size));
  const Rewrite& row = rewriteTable()[random.index(rewriteTable().size())];
  Step step{std::string(row.name)};
  auto [first, second] = twoLoops(names, random);
  auto number = [&] { return fmt::format("{}", random.integer(1, 5)); };
  if (row.arguments == "LOOP LOOP")
    step.arguments = {first, second};
  else if (row.arguments == "LOOP NUMBER" || row.arguments == "LOOP FORM")
    step.arguments = {drawn(names.loops, random), number()};
  else if (row.arguments == "SCRATCH LOOP")
    step.arguments = {drawn(names.scratch, random), drawn(names.loops, random)};
  else if (row.arguments == "BUFFER LOOP")
    step.arguments = {nest.buffers[random.index(nest.buffers.size())].name,
                      drawn(names.loops, random)};
  else if (row.arguments == "BUFFER NUMBER")
    step.arguments = {nest.buffers[random.index(nest.buffers.size())].name, number()};
  else if (row.arguments == "SCRATCH NUMBER NUMBER")
    step.arguments = {drawn(names.scratch, random), number(), number()};
  else if (row.arguments == "SCRATCH")
    step.arguments = {drawn(names.scratch, random)};
  else if (row.arguments == "SCRATCH TYPE")
    step.arguments = {drawn(names.scratch, random), random.chance(50) ? "int16" : "uint8"};
  else if (row.arguments == "SCRATCH BUFFER")
    step.arguments = {drawn(names.scratch, random),
                      nest.buffers[random.index(nest.buffers.size())].name};
  else if (row.arguments == "LOOP")
    step.arguments = {drawn(names.loops, random)};
  else
    step.arguments = {drawn(names.sizes, random), "1"};
  if (row.arguments == "LOOP FORM" && random.chance(50))
    if (auto name = nest.table.find(step.arguments[0]))
      forEachNode(nest.body, [&](const Node& node) {
        const auto* loop = std::get_if<Loop>(&node.what);
        if (loop && loop->variable == *name)
          step.arguments[1] = fmt::format("({})/2", nest.table.text(loop->end));
      });
  return step;
}

} // namespace

RandomSchedule drawSchedule(const loops::Nest& nest, size_t draws, Random& random) {
  RandomSchedule made{nest};
  for (size_t i = 0; i < draws; ++i) {
    loops::Step step = drawStep(made.nest, random);
    auto next = loops::rewritten(made.nest, step);
    if (!next)
      continue;
    made.nest = *std::move(next);
    made.text += loops::textOf(step) + "\n";
    made.steps.push_back(std::move(step));
  }
  return made;
}

void damage(Nest& nest, Random& random) {
  std::vector<Node>* body = drawnBody(nest, random);
  if (!body)
    return;
  size_t at = random.index(body->size());
  Node& node = (*body)[at];
  auto* loop = std::get_if<Loop>(&node.what);
  switch (random.integer(0, 7)) {
  case 0:
    std::swap(node, (*body)[random.index(body->size())]);
    break;
  case 1:
    if (loop)
      loop->kind = random.chance(50) ? RunKind::Parallel : RunKind::Vector;
    break;
  case 2:
    if (loop)
      loop->end = nest.table.sum(loop->end, nest.table.number(random.chance(50) ? 1 : -1));
    break;
  case 3:
    if (!std::holds_alternative<Allocation>(node.what)) {
      std::vector<Node> copies = copyOf(nest, {node});
      body->insert(body->begin() + ptrdiff_t(at), std::move(copies[0]));
    }
    break;
  case 4:
  case 5:
    // A node from inside goes in front or behind.
    if (!node.body.empty()) {
      size_t from = random.index(node.body.size());
      std::vector<Node> moved{node.body[from]};
      node.body.erase(node.body.begin() + ptrdiff_t(from));
      auto to = body->begin() + ptrdiff_t(at + size_t(random.integer(0, 1)));
      body->insert(to, moved.begin(), moved.end());
    }
    break;
  case 6:
    if (std::holds_alternative<Condition>(node.what)) {
      std::vector<Node> inner = std::move(node.body);
      body->erase(body->begin() + ptrdiff_t(at));
      body->insert(body->begin() + ptrdiff_t(at), inner.begin(), inner.end());
    }
    break;
  default:
    if (loop) {
      Form twice = nest.table.product(variableForm(nest, loop->variable), nest.table.number(2));
      replaceNames(nest, node.body, {{loop->variable, twice}});
      loop->end = nest.table.quotient(loop->end, nest.table.number(2));
    }
  }
}

} // namespace harness
