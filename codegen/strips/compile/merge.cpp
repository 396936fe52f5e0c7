#include "codegen/strips/compile/merge.h"

#include "lower/loops/edit.h"

#include <algorithm>

namespace strips {

namespace {

using loops::Loop;
using loops::Node;
using loops::Operation;
using loops::OperationKind;
using loops::Statement;

class Merger {
public:
  explicit Merger(Nest& nest) : nest_(nest) {}

  void merge(std::vector<Node>& nodes) {
    for (Node& node : nodes) {
      merge(node.body);
      auto* outer = std::get_if<Loop>(&node.what);
      Loop* inner =
          outer && node.body.size() == 1 ? std::get_if<Loop>(&node.body[0].what) : nullptr;
      if (!inner || !walkAsOne(*outer, *inner, node.body[0].body))
        continue;
      // What two loops walk as one hangs on no order, so the inner one may run as the outer one
      // does.
      Loop merged{inner->variable, nest_.table.product(outer->end, inner->end), outer->kind};
      std::vector<Node> body = std::move(node.body[0].body);
      loops::replaceNames(nest_, body, {{outer->variable, nest_.table.number(0)}});
      node = {merged, std::move(body)};
    }
  }

private:
  struct Pair {
    Name outer, inner;
    Form end;
  };

  bool mentions(Form form, const Pair& pair) const {
    return nest_.table.mentions(form, pair.outer) || nest_.table.mentions(form, pair.inner);
  }

  /// Whether a form goes on with the first variable where the second ends.
  bool goesOn(Form form, const Pair& pair) {
    auto outer = sizes::slopeOf(nest_.table, form, pair.outer);
    auto inner = sizes::slopeOf(nest_.table, form, pair.inner);
    return outer && inner && !mentions(*outer, pair) && !mentions(*inner, pair) &&
           *outer == nest_.table.product(*inner, pair.end);
  }

  bool walkAsOne(const Loop& outer, const Loop& inner, const std::vector<Node>& body) {
    Pair pair{outer.variable, inner.variable, inner.end};
    if (nest_.table.mentions(inner.end, outer.variable))
      return false;
    bool isOne = true;
    loops::forEachNode(body, [&](const Node& node) {
      if (!isOne)
        return;
      if (const auto* loop = std::get_if<Loop>(&node.what))
        isOne = !mentions(loop->end, pair);
      else if (const auto* condition = std::get_if<loops::Condition>(&node.what))
        isOne = !mentions(condition->left, pair) && !mentions(condition->right, pair);
      else if (const auto* allocation = std::get_if<loops::Allocation>(&node.what))
        isOne = std::ranges::none_of(nest_.buffers[allocation->buffer].extents,
                                     [&](Form extent) { return mentions(extent, pair); });
      else
        isOne = walksAsOne(std::get<Statement>(node.what), pair);
    });
    return isOne;
  }

  bool walksAsOne(const Statement& statement, const Pair& pair) {
    for (const loops::Store& store : statement.stores)
      if (!goesOn(flatPlace(nest_, store), pair))
        return false;
    return std::ranges::all_of(statement.operations, [&](const Operation& operation) {
      if (operation.kind == OperationKind::Position)
        return goesOn(operation.position, pair);
      if (operation.kind != OperationKind::Load)
        return true;
      bool isOwn = std::ranges::find(statement.stores, operation.buffer, &loops::Store::buffer) !=
                   statement.stores.end();
      for (const loops::Place& place : operation.places)
        if (place.value == loops::none && place.isChecked && mentions(place.form, pair))
          return false;
      return !isOwn && goesOn(flatPlace(nest_, operation), pair);
    });
  }

  Nest& nest_;
};

} // namespace

void mergeLoops(Nest& nest) {
  Merger(nest).merge(nest.body);
}

} // namespace strips
