// Outermost loops stay, which threads share.
#include "lower/loops/choose_flat.h"

#include "lower/loops/edit.h"
#include "lower/loops/trial.h"
#include "lower/loops/verify.h"
#include "lower/sizes/slope.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace loops {

namespace {

/// Rows of as many vectors leave little over.
constexpr int64_t vectorsOfLongRow = 16;

class Flattening {
public:
  Flattening(Scheduled made, const MachineModel& machine)
      : trial_(std::move(made)), machine_(machine) {}

  Scheduled run() {
    while (auto pair = nextPair(trial_.nest().body, true))
      flatten(*pair);
    return trial_.take();
  }

private:
  struct Pair {
    Loop rows, row;
    auto names(const Nest& nest) const {
      return std::pair(nest.table.textOf(rows.variable), nest.table.textOf(row.variable));
    }
  };

  /// A loop of short rows with that over one alone in it, that was not tried.
  std::optional<Pair> nextPair(const std::vector<Node>& body, bool isOutermost) {
    for (const Node& node : body) {
      const auto* rows = std::get_if<Loop>(&node.what);
      const auto* row =
          rows && node.body.size() == 1 ? std::get_if<Loop>(&node.body[0].what) : nullptr;
      if (row && !isOutermost && isShort(*rows, *row))
        if (Pair pair{*rows, *row}; tried_.insert(pair.names(trial_.nest())).second)
          return pair;
      if (auto pair = nextPair(node.body, isOutermost && !rows))
        return pair;
    }
    return std::nullopt;
  }

  bool isShort(const Loop& rows, const Loop& row) {
    auto count = trial_.nest().table.constantOf(row.end);
    return trial_.nest().table.constantOf(rows.end) && count &&
           *count < vectorsOfLongRow * machine_.vectorBytes / 4;
  }

  void flatten(const Pair& pair) {
    auto buffers = flatBuffers(pair);
    if (!buffers)
      return;
    Scheduled before = trial_.made();
    bool isDone = true;
    for (const auto& [buffer, dimension] : *buffers)
      isDone = isDone && trial_.attempt("flatten", {trial_.nest().buffers[buffer].name,
                                                    fmt::format("{}", dimension + 1)});
    auto [rows, row] = pair.names(trial_.nest());
    if (!isDone || !trial_.attempt("merge", {rows, row}) || !problemOf(trial_.nest()).empty())
      trial_.restore(std::move(before));
  }

  using Dimensions = std::vector<std::pair<uint32_t, size_t>>;

  /// What lies row after row where the pair goes through it, each with the dimension along which
  /// rows lie; nothing where something is gone through in another way, but for inputs that are read
  /// in steps: tiles copy these anyway.
  std::optional<Dimensions> flatBuffers(const Pair& pair) {
    Nest& nest = trial_.nest();
    Spot spot = findLoop(nest, pair.names(nest).first);
    if (!areAllPlaces(pair, spot.node().body[0].body))
      return std::nullopt;
    Dimensions found;
    for (uint32_t buffer = 0; buffer < nest.buffers.size(); ++buffer) {
      std::set<std::optional<size_t>> dimensions;
      bool isReadInSteps = nest.buffers[buffer].space == Space::Input;
      for (const std::vector<Form>& position : positionsOf(spot.node(), buffer)) {
        if (isFlatAlready(pair, position))
          continue;
        isReadInSteps = isReadInSteps && isInSteps(pair, position);
        dimensions.insert(dimensionOf(pair, buffer, position));
      }
      if (dimensions.empty() || isReadInSteps)
        continue;
      if (dimensions.size() != 1 || !*dimensions.begin())
        return std::nullopt;
      found.emplace_back(buffer, **dimensions.begin());
    }
    return found;
  }

  /// Where a buffer is read and written; a place that is a value counts as 0.
  std::vector<std::vector<Form>> positionsOf(Node& node, uint32_t buffer) {
    std::vector<std::vector<Form>> found;
    forEachAccess(
        node.body, buffer, [&](std::vector<Form>& position) { found.push_back(position); },
        [&](Operation& load) {
          std::vector<Form>& position = found.emplace_back();
          for (const Place& place : load.places)
            position.push_back(place.value == none ? place.form : trial_.nest().table.number(0));
        });
    return found;
  }

  /// Whether all that hangs on the pair are places in rows that lie one after the other.
  bool isFlatAlready(const Pair& pair, const std::vector<Form>& position) {
    return std::ranges::all_of(
        position, [&](Form form) { return !mentions(form, pair) || form == flatPlace(pair); });
  }

  /// A variable, or one times a number.
  bool isStepsOf(Form form, Name variable) {
    sizes::Table& table = trial_.nest().table;
    auto slope = sizes::slopeOf(table, form, variable);
    auto step = slope ? table.constantOf(*slope) : std::nullopt;
    return step && *step > 0 &&
           form == table.product(table.number(*step), variableForm(trial_.nest(), variable));
  }

  bool isPlace(Form form, const Pair& pair) {
    return isStepsOf(form, pair.rows.variable) || isStepsOf(form, pair.row.variable) ||
           form == flatPlace(pair);
  }

  /// The place of a point of the pair where rows lie one after the other in one dimension.
  Form flatPlace(const Pair& pair) {
    Nest& nest = trial_.nest();
    return nest.table.sum(nest.table.product(variableForm(nest, pair.rows.variable), pair.row.end),
                          variableForm(nest, pair.row.variable));
  }

  /// Whether all that hangs on the pair goes more than one element on with each step.
  bool isInSteps(const Pair& pair, const std::vector<Form>& position) {
    Nest& nest = trial_.nest();
    return std::ranges::all_of(position, [&](Form form) {
      return !mentions(form, pair) || (form != variableForm(nest, pair.rows.variable) &&
                                       form != variableForm(nest, pair.row.variable));
    });
  }

  bool mentions(Form form, const Pair& pair) {
    const sizes::Table& table = trial_.nest().table;
    return table.mentions(form, pair.rows.variable) || table.mentions(form, pair.row.variable);
  }

  /// Whether all that hangs on the pair below are places that are steps along a loop of it.
  bool areAllPlaces(const Pair& pair, std::vector<Node>& body) {
    Nest& nest = trial_.nest();
    bool areAll = true;
    changeForms(nest, body, [&](Form form) {
      areAll &= !mentions(form, pair) || isPlace(form, pair);
      return form;
    });
    forEachNode(body, [&](Node& node) {
      if (const auto* statement = std::get_if<Statement>(&node.what))
        for (const Operation& operation : statement->operations)
          areAll &=
              operation.kind != OperationKind::Position || !mentions(operation.position, pair);
      if (const auto* loop = std::get_if<Loop>(&node.what))
        areAll &= !mentions(loop->end, pair);
      if (const auto* condition = std::get_if<Condition>(&node.what))
        areAll &= !mentions(condition->left, pair) && !mentions(condition->right, pair);
    });
    return areAll;
  }

  /// The dimension along which an access goes from row to row; the next goes along one.
  std::optional<size_t> dimensionOf(const Pair& pair, uint32_t buffer,
                                    const std::vector<Form>& position) {
    Nest& nest = trial_.nest();
    Form rows = variableForm(nest, pair.rows.variable), row = variableForm(nest, pair.row.variable);
    std::optional<size_t> found;
    for (size_t i = 0; i < position.size(); ++i) {
      if (position[i] == rows && i + 1 < position.size() && position[i + 1] == row && !found &&
          nest.buffers[buffer].extents[i + 1] == pair.row.end)
        found = i++;
      else if (mentions(position[i], pair))
        return std::nullopt;
    }
    return found;
  }

  Trial trial_;
  const MachineModel& machine_;
  std::set<std::pair<std::string, std::string>> tried_;
};

} // namespace

void flattenRows(Scheduled& made, const MachineModel& machine) {
  made = Flattening(std::move(made), machine).run();
}

} // namespace loops
