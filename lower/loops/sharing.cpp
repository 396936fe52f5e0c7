// Statements that read an input come before the one that makes the output, or are that one. In
// loops around both the output must be stored, and the input be read, at the same place of that
// iteration.
#include "lower/loops/sharing.h"

#include "lower/loops/build_values.h"
#include "lower/loops/edit.h"

#include <algorithm>

namespace loops {

namespace {

/// A statement, and the loops around it from the outermost on.
struct Access {
  const Statement* statement;
  std::vector<Name> loops;
};

void listStatements(const std::vector<Node>& body, std::vector<Name>& around,
                    std::vector<Access>& found) {
  for (const Node& node : body) {
    const auto* loop = std::get_if<Loop>(&node.what);
    if (const auto* statement = std::get_if<Statement>(&node.what))
      found.push_back({statement, around});
    if (loop)
      around.push_back(loop->variable);
    listStatements(node.body, around, found);
    if (loop)
      around.pop_back();
  }
}

bool stores(const Statement& statement, uint32_t buffer) {
  return std::ranges::any_of(statement.stores,
                             [&](const Store& store) { return store.buffer == buffer; });
}

class Sharing {
public:
  explicit Sharing(const Nest& nest) : nest_(nest) {
    std::vector<Name> around;
    listStatements(nest.body, around, statements_);
  }

  bool areSharable(uint32_t input, uint32_t output) const {
    if (nest_.buffers[input].extents != nest_.buffers[output].extents ||
        nest_.buffers[input].dtype != nest_.buffers[output].dtype)
      return false;
    const Access* maker = nullptr;
    for (const Access& placed : statements_)
      if (stores(*placed.statement, output)) {
        if (maker)
          return false;
        maker = &placed;
      }
    if (!maker || maker->statement->combiner || maker->statement->stores.size() != 1)
      return false;
    bool isBefore = true, isGood = true;
    for (const Access& placed : statements_) {
      bool isMaker = &placed == maker;
      for (const Operation& operation : placed.statement->operations)
        if (operation.kind == OperationKind::Load &&
            (operation.buffer == input || operation.buffer == output))
          isGood = isGood && operation.buffer == input && isBefore &&
                   isOfIteration(placed, *maker, operation, isMaker);
      isBefore = isBefore && !isMaker;
    }
    return isGood;
  }

private:
  /// Whether a read touches only what is stored in the same iteration of the loops that it shares
  /// with the maker, or the very element if it is in the maker itself.
  bool isOfIteration(const Access& reader, const Access& maker, const Operation& load,
                     bool isMaker) const {
    const Store& store = maker.statement->stores[0];
    std::vector<Name> same;
    for (size_t i = 0; i < load.places.size(); ++i) {
      const Place& place = load.places[i];
      bool isSame = place.value == none && !place.isChecked && place.form == store.position[i];
      if (!isSame && isMaker)
        return false;
      if (auto name = isSame ? nest_.table.nameOf(place.form) : std::nullopt)
        same.push_back(*name);
    }
    if (isMaker || !load.operands.empty())
      return load.operands.empty();
    auto apart = std::ranges::mismatch(reader.loops, maker.loops).in1;
    return std::all_of(reader.loops.begin(), apart,
                       [&](Name loop) { return std::ranges::find(same, loop) != same.end(); });
  }

  const Nest& nest_;
  std::vector<Access> statements_;
};

} // namespace

std::vector<std::pair<uint32_t, uint32_t>> sharableBuffers(const Nest& nest) {
  Sharing sharing(nest);
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (uint32_t input = 0; input < nest.buffers.size(); ++input)
    for (uint32_t output = input; output < nest.buffers.size(); ++output)
      if (nest.buffers[input].space == Space::Input &&
          nest.buffers[output].space == Space::Output && sharing.areSharable(input, output))
        pairs.emplace_back(input, output);
  return pairs;
}

bool mayFail(const Nest& nest) {
  bool may = false;
  forEachNode(nest.body, [&](const Node& node) {
    if (const auto* statement = std::get_if<Statement>(&node.what))
      may |= mayFail(statement->operations);
  });
  return may;
}

} // namespace loops
