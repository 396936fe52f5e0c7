#include "codegen/strips/compile/lanes.h"

#include "codegen/strips/compile/scan.h"
#include "lower/elements/element.h"
#include "lower/loops/edit.h"
#include "lower/loops/names.h"

#include <algorithm>
#include <limits>

namespace strips {

namespace {

using loops::Loop;
using loops::Node;
using loops::Operation;
using loops::OperationKind;
using loops::Statement;

/// Nanoseconds: for an instruction, and for each element of a strip.
constexpr double instructionCost = 8, loopCost = 3, strideCost = 1.2, unevenCost = 4,
                 analysisCost = 1.5, stepCost = 0.1;
constexpr double usualStrip = 512;
/// Scratch of a lane is no larger.
constexpr int64_t mostElementsOfLane = 64;

/// The loops and conditions inside of a loop as seen by one that is to be lanes.
class Legality {
public:
  Legality(Nest& nest, Name variable, const std::set<uint32_t>& contracted)
      : nest_(nest), variable_(variable), contracted_(contracted) {}

  bool holds(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      bool isGood = true;
      if (const auto* loop = std::get_if<Loop>(&node.what))
        isGood = !mentions(loop->end);
      else if (const auto* condition = std::get_if<loops::Condition>(&node.what))
        isGood = !mentions(condition->left) && !mentions(condition->right);
      else if (const auto* allocation = std::get_if<loops::Allocation>(&node.what))
        isGood = isSmall(allocation->buffer);
      else
        isGood = isApart(std::get<Statement>(node.what));
      if (!isGood || !holds(node.body))
        return false;
    }
    return true;
  }

private:
  bool mentions(Form form) const { return nest_.table.mentions(form, variable_); }

  bool isSmall(uint32_t buffer) {
    own_.insert(buffer);
    Form count = nest_.table.number(1);
    for (Form extent : nest_.buffers[buffer].extents)
      count = nest_.table.product(count, extent);
    auto number = nest_.table.constantOf(count);
    return number && *number <= mostElementsOfLane;
  }

  bool isApart(const Statement& statement) {
    bool isJoinedOver = std::ranges::any_of(
        statement.reduced, [&](const loops::Reduced& axis) { return mentions(axis.position); });
    std::optional<bool> hasLanes;
    for (const loops::Store& store : statement.stores) {
      if (contracted_.contains(store.buffer))
        return false;
      bool own = own_.contains(store.buffer) || mentions(flatPlace(nest_, store));
      if (hasLanes && *hasLanes != own)
        return false;
      hasLanes = own;
      for (const Operation& operation : statement.operations)
        if (operation.kind == OperationKind::Load && operation.buffer == store.buffer &&
            !readsOwnLane(store, operation) && !scanOf(nest_, statement, variable_))
          return false;
    }
    return statement.combiner ? *hasLanes != isJoinedOver : *hasLanes;
  }

  bool readsOwnLane(const loops::Store& store, const Operation& load) const {
    for (size_t i = 0; i < load.places.size(); ++i) {
      const loops::Place& place = load.places[i];
      bool isSame = place.value == loops::none && place.form == store.position[i];
      bool isFixed =
          place.value == loops::none && !mentions(place.form) && !mentions(store.position[i]);
      if (!isSame && !isFixed)
        return false;
    }
    return true;
  }

  Nest& nest_;
  Name variable_;
  const std::set<uint32_t>& contracted_;
  std::set<uint32_t> own_;
};

class Chooser {
public:
  Chooser(Nest& nest, const std::set<uint32_t>& contracted)
      : nest_(nest), contracted_(contracted) {}

  LaneChoice choose(const std::vector<Node>& nodes) {
    LaneChoice all;
    for (const Node& node : nodes) {
      LaneChoice own = choose(node);
      all.cost += own.cost;
      all.strips.merge(own.strips);
    }
    return all;
  }

private:
  double extentOf(Form form) const {
    return double(std::max<int64_t>(0, nest_.table.constantOf(form).value_or(openExtent)));
  }

  LaneChoice choose(const Node& node) {
    if (const auto* statement = std::get_if<Statement>(&node.what))
      return {{}, instructionCost * steps(*statement)};
    LaneChoice inner = choose(node.body);
    const auto* loop = std::get_if<Loop>(&node.what);
    if (!loop)
      return inner;
    double extent = extentOf(loop->end);
    inner.cost = extent * (inner.cost + loopCost);
    if (!Legality(nest_, loop->variable, contracted_).holds(node.body))
      return inner;
    double strips = std::ceil(extent / usualStrip);
    double cost = costOf(node.body, loop->variable, strips, extent);
    return cost < inner.cost ? LaneChoice{{loop->variable}, cost} : std::move(inner);
  }

  static double steps(const Statement& statement) {
    return double(statement.operations.size() + statement.stores.size());
  }

  double costOf(const std::vector<Node>& nodes, Name lane, double strips, double lanes) {
    double cost = 0;
    for (const Node& node : nodes) {
      const auto* loop = std::get_if<Loop>(&node.what);
      if (const auto* statement = std::get_if<Statement>(&node.what))
        cost += strips * instructionCost * steps(*statement) + lanes * costOf(*statement, lane);
      else
        cost += (loop ? extentOf(loop->end) : 1) * costOf(node.body, lane, strips, lanes);
      if (loop)
        cost += strips * loopCost * extentOf(loop->end);
    }
    return cost;
  }

  /// Of a place that is walked by lanes.
  double walkCost(Form flat, Name lane) {
    auto stride = sizes::slopeOf(nest_.table, flat, lane);
    if (!stride)
      return unevenCost;
    auto number = nest_.table.constantOf(*stride);
    if (number == 0)
      return 0;
    return number == 1 ? stepCost / 2 : strideCost;
  }

  double costOf(const Statement& statement, Name lane) {
    double cost = 0;
    // What is the same in all lanes is computed once.
    std::vector<uint8_t> hasLanes(statement.operations.size());
    for (size_t i = 0; i < hasLanes.size(); ++i) {
      const Operation& operation = statement.operations[i];
      loops::forEachValue(operation, [&](uint32_t value) { hasLanes[i] |= hasLanes[value]; });
      switch (operation.kind) {
      case OperationKind::Load: {
        double walk = walkCost(flatPlace(nest_, operation), lane);
        for (const loops::Place& place : operation.places)
          walk += place.value != loops::none && hasLanes[place.value] ? unevenCost : 0;
        hasLanes[i] |= walk > 0;
        cost += walk;
        break;
      }
      case OperationKind::Position:
        hasLanes[i] = nest_.table.mentions(operation.position, lane);
        cost += walkCost(operation.position, lane);
        break;
      case OperationKind::Apply:
        if (hasLanes[i])
          cost += operation.function >= runtime::ScalarFunction::Exp ? analysisCost : stepCost;
        break;
      case OperationKind::Cast:
        cost += hasLanes[i] ? stepCost : 0;
        break;
      case OperationKind::Number:
        break;
      }
    }
    for (const loops::Store& store : statement.stores)
      cost += walkCost(flatPlace(nest_, store), lane) + (statement.combiner ? 2 * stepCost : 0);
    return cost;
  }

  Nest& nest_;
  const std::set<uint32_t>& contracted_;
};

} // namespace

LaneChoice chooseLanes(Nest& nest, const std::vector<Node>& nodes,
                       const std::set<uint32_t>& contracted) {
  return Chooser(nest, contracted).choose(nodes);
}

} // namespace strips
