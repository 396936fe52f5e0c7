// Names of new loops are found by comparing what there was before a step and after it.
#include "lower/loops/choose_contraction.h"

#include "lower/loops/edit.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace loops {

namespace {

/// Rows whose accumulators fit in registers beside two vectors of columns.
constexpr int64_t rowsOfTile = 6;
constexpr int64_t vectorsOfTile = 2;

std::string nameOf(const Nest& nest, const Node& node) {
  return nest.table.textOf(std::get<Loop>(node.what).variable);
}

std::vector<std::string> loopNames(const Nest& nest) {
  std::vector<std::string> names;
  forEachNode(nest.body, [&](const Node& node) {
    if (std::holds_alternative<Loop>(node.what))
      names.push_back(nameOf(nest, node));
  });
  return names;
}

/// The loops over which the accumulator is joined to, if the body is that of a contraction.
std::optional<Contraction> contractionIn(const Nest& nest, const Node& rows, const Node& columns) {
  const std::vector<Node>& body = columns.body;
  if (body.size() != 4 || !std::holds_alternative<Allocation>(body[0].what) ||
      !std::holds_alternative<Statement>(body[1].what) ||
      !std::holds_alternative<Loop>(body[2].what) ||
      !std::holds_alternative<Statement>(body[3].what))
    return std::nullopt;
  uint32_t accumulator = std::get<Allocation>(body[0].what).buffer;
  Contraction found{nameOf(nest, rows), nameOf(nest, columns), nest.buffers[accumulator].name, {}};
  const Node* next = &body[2];
  while (std::holds_alternative<Loop>(next->what) && next->body.size() == 1) {
    found.summed.push_back(nameOf(nest, *next));
    next = &next->body[0];
  }
  const auto* joiner = std::get_if<Statement>(&next->what);
  bool isSum = joiner && joiner->combiner == Combiner::Sum &&
               joiner->stores[0].buffer == accumulator && nest.buffers[accumulator].extents.empty();
  return isSum ? std::optional(std::move(found)) : std::nullopt;
}

class Tiler {
public:
  Tiler(Scheduled made, const Contraction& contraction, const MachineModel& machine)
      : made_(std::move(made)), contraction_(contraction), machine_(machine) {}

  std::optional<Scheduled> run() {
    const std::string& accumulator = contraction_.accumulator;
    // A sum that is wide for a reason stays so.
    attempt("narrow", {accumulator});
    int64_t bytes = int64_t(made_.nest.buffers[findScratch(made_.nest, accumulator)].dtype.bytes());
    int64_t columns = vectorsOfTile * std::max<int64_t>(1, machine_.vectorBytes / bytes);
    auto rows = tiled(contraction_.rows, rowsOfTile);
    auto across = rows ? tiled(contraction_.columns, columns) : std::nullopt;
    if (!across)
      return std::nullopt;
    const auto& [rowTile, row] = *rows;
    const auto& [columnTile, column] = *across;
    if (!columnTile.empty()) {
      // Where columns are left, the tile is alone in its loop over rows after a cut.
      attempt("fission", {row, "1"});
      if (!attempt("reorder", {row, columnTile}))
        return std::nullopt;
    }
    if (!attempt("expand", {accumulator, column}) || !attempt("expand", {accumulator, row}))
      return std::nullopt;
    return sumInside(row, column) ? std::optional(std::move(made_)) : std::nullopt;
  }

private:
  bool attempt(std::string_view rewrite, std::vector<std::string> arguments) {
    Step step{std::string(rewrite), std::move(arguments)};
    std::vector<std::string> before = loopNames(made_.nest);
    std::set<std::string> known(before.begin(), before.end());
    auto next = rewritten(made_.nest, step);
    if (!next)
      return false;
    made_.nest = *std::move(next);
    made_.steps.push_back(std::move(step));
    fresh_.clear();
    for (const std::string& name : loopNames(made_.nest))
      if (!known.contains(name))
        fresh_.push_back(name);
    return true;
  }

  /// Cuts a loop into whole pieces, and a rest of its own: the loop over pieces, if there are
  /// several, and that in one.
  std::optional<std::pair<std::string, std::string>> tiled(const std::string& loop, int64_t piece) {
    Form end = findLoop(made_.nest, loop).loop().end;
    auto count = made_.nest.table.constantOf(end);
    if (count)
      piece = std::min(piece, *count);
    if (piece < 2)
      return std::nullopt;
    if (count == piece)
      return std::pair(std::string(), loop);
    if (!count || *count % piece != 0) {
      std::string whole = fmt::format("({})/{}*{}", made_.nest.table.text(end), piece, piece);
      std::erase(whole, ' ');
      if (!attempt("peel", {loop, whole}))
        return std::nullopt;
    }
    if (!attempt("split", {loop, fmt::format("{}", piece)}))
      return std::nullopt;
    return fresh_.size() == 2 ? std::optional(std::pair(fresh_[0], fresh_[1])) : std::nullopt;
  }

  /// Cuts what makes the accumulators off what joins, and that off what reads; then the tile stands
  /// inside of the sum.
  bool sumInside(const std::string& row, const std::string& column) {
    std::string rows = row, columns = column;
    for (int i = 0; i < 2; ++i) {
      if (!attempt("fission", {columns, "1"}))
        return false;
      std::string nextColumns = fresh_[0];
      if (!attempt("fission", {rows, "1"}))
        return false;
      // First the makers are cut off, then the readers, whose loops keep to themselves.
      if (i == 0) {
        rows = fresh_[0];
        columns = nextColumns;
      }
    }
    for (const std::string& summed : contraction_.summed)
      if (!attempt("reorder", {columns, summed}))
        return false;
    for (const std::string& summed : contraction_.summed)
      if (!attempt("reorder", {rows, summed}))
        return false;
    return attempt("unroll", {rows});
  }

  Scheduled made_;
  const Contraction& contraction_;
  const MachineModel& machine_;
  /// The loops that the last step made, in the order of the text.
  std::vector<std::string> fresh_;
};

} // namespace

std::vector<Contraction> contractionsOf(const Nest& nest) {
  std::vector<Contraction> found;
  forEachNode(nest.body, [&](const Node& node) {
    if (!std::holds_alternative<Loop>(node.what) || node.body.size() != 1 ||
        !std::holds_alternative<Loop>(node.body[0].what))
      return;
    if (auto contraction = contractionIn(nest, node, node.body[0]))
      found.push_back(*std::move(contraction));
  });
  return found;
}

void tileContraction(Scheduled& made, const Contraction& contraction, const MachineModel& machine) {
  if (auto tiled = Tiler(made, contraction, machine).run())
    made = *std::move(tiled);
}

} // namespace loops
