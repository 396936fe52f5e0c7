// What is known of a value is the least that it may be, and forms that it does not pass. Reads test
// their places in any case; what is saved is to look afterwards whether one was outside.
#include "codegen/strips/compile/inside.h"

#include "lower/loops/edit.h"
#include "lower/sizes/facts.h"

#include <algorithm>
#include <optional>

namespace strips {

namespace {

using loops::Form;
using loops::Operation;
using loops::OperationKind;
using runtime::ScalarFunction;

struct Bounds {
  std::optional<int64_t> least = {};
  std::vector<Form> most = {};
};

Bounds boundsOf(loops::Nest& nest, const sizes::Facts& facts, const Operation& operation,
                const std::vector<Bounds>& known) {
  if (operation.kind == OperationKind::Number && operation.dtype == runtime::Int64)
    return {operation.integer, {nest.table.number(operation.integer)}};
  if (operation.kind == OperationKind::Position) {
    bool isNeverNegative = facts.proves(operation.position, nest.table.number(0));
    return {isNeverNegative ? std::optional<int64_t>(0) : std::nullopt, {operation.position}};
  }
  if (operation.kind != OperationKind::Apply || operation.dtype != runtime::Int64)
    return {};
  if (operation.function == ScalarFunction::Maximum) {
    const Bounds &a = known[operation.operands[0]], &b = known[operation.operands[1]];
    return {a.least && b.least ? std::max(a.least, b.least) : a.least ? a.least : b.least, {}};
  }
  if (operation.function == ScalarFunction::Minimum) {
    const Bounds &a = known[operation.operands[0]], &b = known[operation.operands[1]];
    Bounds both{a.least && b.least ? std::min(a.least, b.least) : std::nullopt, a.most};
    both.most.insert(both.most.end(), b.most.begin(), b.most.end());
    return both;
  }
  return {};
}

bool isInside(loops::Nest& nest, const Bounds& bounds, Form extent) {
  return bounds.least >= 0 && std::ranges::any_of(bounds.most, [&](Form most) {
           auto over = nest.table.constantOf(nest.table.sum(most, extent, -1));
           return over && *over < 0;
         });
}

void checkOpenPlaces(loops::Nest& nest, std::vector<loops::Node>& nodes,
                     const sizes::Facts& facts) {
  for (loops::Node& node : nodes) {
    if (auto* statement = std::get_if<loops::Statement>(&node.what)) {
      for (Operation& load : statement->operations)
        for (size_t i = 0; i < load.places.size() && !load.operands.empty(); ++i)
          if (loops::Place& place = load.places[i]; place.value == loops::none)
            place.isChecked = !facts.isInside(place.form, nest.buffers[load.buffer].extents[i]);
      continue;
    }
    sizes::Facts inside = facts;
    loops::enter(inside, nest.table, node);
    checkOpenPlaces(nest, node.body, inside);
  }
}

} // namespace

void checkNoMore(loops::Nest& nest) {
  const sizes::Facts facts = loops::factsOf(nest);
  loops::forEachNode(nest.body, [&](loops::Node& node) {
    auto* statement = std::get_if<loops::Statement>(&node.what);
    if (!statement)
      return;
    std::vector<Bounds> known;
    for (Operation& operation : statement->operations) {
      for (size_t i = 0; i < operation.places.size(); ++i) {
        loops::Place& place = operation.places[i];
        if (place.value != loops::none &&
            isInside(nest, known[place.value], nest.buffers[operation.buffer].extents[i]))
          place.isChecked = false;
      }
      known.push_back(boundsOf(nest, facts, operation, known));
    }
  });
}

void checkOpenPlaces(loops::Nest& nest) {
  checkOpenPlaces(nest, nest.body, loops::factsOf(nest));
}

} // namespace strips
