// Names of new loops are found by comparing what there was before a step and after it.
#include "lower/loops/choose_contraction.h"

#include "lower/loops/edit.h"
#include "lower/loops/verify.h"
#include "lower/sizes/slope.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace loops {

namespace {

/// Vectors of columns in a tile with rows, and in one without.
constexpr int64_t vectorsBesideRows = 2, vectorsAlone = 4;
/// Rows from which on it is worth while to pack what they share.
constexpr int64_t rowsWorthPacking = 8;
/// Open extents that are proven to be below this are those that tiles leave over.
constexpr int64_t fewRows = 16;
constexpr int64_t openExtent = 1000;

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

/// The statement that joins, in the loops of a sum.
const Statement* joinerIn(const Node& sum) {
  const Node* next = &sum;
  while (std::holds_alternative<Loop>(next->what) && next->body.size() == 1)
    next = &next->body[0];
  return std::get_if<Statement>(&next->what);
}

/// Whether a statement reads two buffers at least, as products do.
bool readsTwo(const Statement& statement) {
  std::set<uint32_t> buffers;
  for (const Operation& operation : statement.operations)
    if (operation.kind == OperationKind::Load)
      buffers.insert(operation.buffer);
  return buffers.size() > 1;
}

/// The contraction whose accumulator is in the body of the last of these loops.
std::optional<Contraction> contractionIn(const Nest& nest, const std::vector<const Node*>& path) {
  const std::vector<Node>& body = path.back()->body;
  auto isStatement = [](const Node& node) { return std::holds_alternative<Statement>(node.what); };
  if (body.size() < 4 || !std::holds_alternative<Allocation>(body[0].what) ||
      !isStatement(body[1]) || !std::holds_alternative<Loop>(body[2].what) ||
      !std::all_of(body.begin() + 3, body.end(), isStatement))
    return std::nullopt;
  uint32_t accumulator = std::get<Allocation>(body[0].what).buffer;
  const Statement* joiner = joinerIn(body[2]);
  if (!joiner || joiner->combiner != Combiner::Sum || joiner->stores[0].buffer != accumulator ||
      !nest.buffers[accumulator].extents.empty() || !readsTwo(*joiner))
    return std::nullopt;
  Contraction found{{}, {}, nest.buffers[accumulator].name};
  for (size_t i = path.size(); i-- > 0;) {
    if (i + 1 < path.size() && path[i]->body.size() != 1)
      break;
    found.spatial.insert(found.spatial.begin(), nameOf(nest, *path[i]));
  }
  for (const Node* next = &body[2]; std::holds_alternative<Loop>(next->what);
       next = &next->body[0])
    found.summed.push_back(nameOf(nest, *next));
  return found;
}

void findContractions(const Nest& nest, std::span<const Node> body,
                      std::vector<const Node*>& path, std::vector<Contraction>& found) {
  for (const Node& node : body) {
    if (!std::holds_alternative<Loop>(node.what))
      continue;
    path.push_back(&node);
    if (auto contraction = contractionIn(nest, path))
      found.push_back(*std::move(contraction));
    else
      findContractions(nest, node.body, path, found);
    path.pop_back();
  }
}

/// An operand of the products: where it is read, as one number.
struct Operand {
  uint32_t buffer;
  Form flat;
};

/// What is known of a contraction before it is tiled.
class Reading {
public:
  Reading(Nest nest, const Contraction& of) : nest_(std::move(nest)), of_(of) {
    const Node& inner = findLoop(nest_, of.spatial.back()).node();
    for (const Operation& operation : joinerIn(inner.body[2])->operations)
      if (operation.kind == OperationKind::Load)
        read(operation);
  }

  /// Whether every operand is read at places that are forms.
  bool isPlain() const { return isPlain_; }

  /// What is left behind tiles is few, other open extents count as large.
  int64_t extentOf(const std::string& loop) {
    Spot spot = findLoop(nest_, loop);
    Form end = spot.loop().end;
    if (auto count = nest_.table.constantOf(end))
      return *count;
    bool isFew = spot.facts.isLess(end, nest_.table.number(fewRows)) == sizes::Answer::Yes;
    return isFew ? 1 : openExtent;
  }

  /// Which loop gives rows: what the lanes read does not hang on it.
  std::optional<std::string> rows() {
    std::optional<std::string> best;
    for (size_t i = 0; i + 1 < of_.spatial.size(); ++i) {
      const std::string& loop = of_.spatial[i];
      bool isShared = std::ranges::any_of(operands_, [&](const Operand& operand) {
        return hangsOn(operand, of_.spatial.back()) && !hangsOn(operand, loop);
      });
      if (isShared && extentOf(loop) > 1 && (!best || extentOf(loop) >= extentOf(*best)))
        best = loop;
    }
    return best;
  }

  /// What is read in lanes, but not from elements side by side.
  std::vector<std::string> apart() {
    std::vector<std::string> found;
    for (const Operand& operand : operands_) {
      if (!hangsOn(operand, of_.spatial.back()))
        continue;
      auto slope = sizes::slopeOf(nest_.table, operand.flat, variableOf(of_.spatial.back()));
      if (!slope || *slope != nest_.table.number(1))
        found.push_back(nest_.buffers[operand.buffer].name);
    }
    return found;
  }

private:
  void read(const Operation& load) {
    const Buffer& buffer = nest_.buffers[load.buffer];
    Form flat = nest_.table.number(0);
    for (size_t i = 0; i < load.places.size(); ++i) {
      isPlain_ &= load.places[i].value == none;
      flat = nest_.table.sum(nest_.table.product(flat, buffer.extents[i]), load.places[i].form);
    }
    operands_.push_back({load.buffer, flat});
  }

  Name variableOf(const std::string& loop) const { return *nest_.table.find(loop); }
  bool hangsOn(const Operand& operand, const std::string& loop) const {
    return nest_.table.mentions(operand.flat, variableOf(loop));
  }

  Nest nest_;
  const Contraction& of_;
  std::vector<Operand> operands_;
  bool isPlain_ = true;
};

/// How many rows a tile has: as many as registers hold beside what is read, and without a rest
/// where that is not far less.
int64_t rowsOfTile(std::optional<int64_t> count, const MachineModel& machine) {
  int64_t most = std::max<int64_t>(2, (machine.registers - 2 - vectorsBesideRows) / vectorsBesideRows);
  if (!count)
    return most;
  if (*count <= most)
    return *count;
  for (int64_t rows = most; rows > most / 2; --rows)
    if (*count % rows == 0)
      return rows;
  return most;
}

class Tiler {
public:
  Tiler(Scheduled made, const Contraction& contraction, const MachineModel& machine)
      : made_(std::move(made)), contraction_(contraction), machine_(machine) {}

  std::optional<Scheduled> run() {
    Reading reading(made_.nest, contraction_);
    if (!reading.isPlain())
      return std::nullopt;
    auto rows = reading.rows();
    std::vector<std::string> apart = reading.apart();
    if (!apart.empty() && (!rows || reading.extentOf(*rows) < rowsWorthPacking))
      return std::nullopt;
    // A sum that is wide for a reason stays so.
    attempt("narrow", {contraction_.accumulator});
    bool isTiled = rows ? withRows(*rows) : columnsAlone();
    if (!isTiled)
      return std::nullopt;
    Scheduled unpacked = made_;
    if (!pack(apart))
      made_ = std::move(unpacked);
    if (!problemOf(made_.nest).empty())
      return std::nullopt;
    return std::move(made_);
  }

private:
  struct Pieces {
    /// The loop over pieces, if there are several, and that in one.
    std::string outer, inner;
    /// Whether iterations are left over, in a loop behind.
    bool hasRest = false;
  };

  bool attempt(std::string_view rewrite, std::vector<std::string> arguments) {
    Step step{std::string(rewrite), std::move(arguments)};
    std::vector<std::string> before = loopNames(made_.nest);
    std::set<std::string> known(before.begin(), before.end());
    auto next = applied(made_.nest, step);
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

  int64_t lanes() const {
    uint32_t accumulator = findScratch(made_.nest, contraction_.accumulator);
    int64_t bytes = int64_t(made_.nest.buffers[accumulator].dtype.bytes());
    return std::max<int64_t>(1, machine_.vectorBytes / bytes);
  }

  std::optional<int64_t> countOf(const std::string& loop) {
    return made_.nest.table.constantOf(findLoop(made_.nest, loop).loop().end);
  }

  /// Cuts a loop into whole pieces, and a rest of its own.
  std::optional<Pieces> tiled(const std::string& loop, int64_t piece) {
    auto count = countOf(loop);
    if (count)
      piece = std::min(piece, *count);
    if (piece < 2)
      return std::nullopt;
    if (count == piece)
      return Pieces{"", loop};
    bool hasRest = !count || *count % piece != 0;
    if (hasRest) {
      Form end = findLoop(made_.nest, loop).loop().end;
      std::string whole = fmt::format("({})/{}*{}", made_.nest.table.text(end), piece, piece);
      std::erase(whole, ' ');
      if (!attempt("peel", {loop, whole}))
        return std::nullopt;
      if (count && *count / piece == 1)
        return Pieces{"", loop, true};
    }
    if (!attempt("split", {loop, fmt::format("{}", piece)}) || fresh_.size() != 2)
      return std::nullopt;
    return Pieces{fresh_[0], fresh_[1], hasRest};
  }

  /// Moves the loop over rows next to that over columns.
  bool bringInside(const std::string& rows) {
    const std::vector<std::string>& loops = contraction_.spatial;
    for (auto next = std::ranges::find(loops, rows) + 1; next + 1 != loops.end(); ++next)
      if (!attempt("reorder", {rows, *next}))
        return false;
    return true;
  }

  bool withRows(const std::string& rows) {
    const std::string& columns = contraction_.spatial.back();
    if (!bringInside(rows))
      return false;
    auto row = tiled(rows, rowsOfTile(countOf(rows), machine_));
    auto column = row ? tiled(columns, vectorsBesideRows * lanes()) : std::nullopt;
    if (!column)
      return false;
    // Where columns are left, the tile is alone in its loops over rows after cuts.
    if (column->hasRest && (!attempt("fission", {row->inner, "1"}) ||
                            (!row->outer.empty() && !attempt("fission", {row->outer, "1"}))))
      return false;
    if (!column->outer.empty() && !attempt("reorder", {row->inner, column->outer}))
      return false;
    rowTiles_ = row->outer;
    columnTiles_ = column->outer;
    const std::string& accumulator = contraction_.accumulator;
    return attempt("expand", {accumulator, column->inner}) &&
           attempt("expand", {accumulator, row->inner}) &&
           sumInside({row->inner, column->inner}) && attempt("unroll", {summedIn_[0]});
  }

  bool columnsAlone() {
    auto column = tiled(contraction_.spatial.back(), vectorsAlone * lanes());
    if (!column)
      return false;
    columnTiles_ = column->outer;
    return attempt("expand", {contraction_.accumulator, column->inner}) &&
           sumInside({column->inner});
  }

  /// Cuts what makes the accumulators off what joins, and that off what reads; then the loops of
  /// the tile, outermost first, stand inside of the sum.
  bool sumInside(const std::vector<std::string>& tile) {
    summedIn_ = tile;
    for (int i = 0; i < 2; ++i) {
      std::vector<std::string> next(tile.size());
      for (size_t k = tile.size(); k-- > 0;) {
        if (!attempt("fission", {summedIn_[k], "1"}))
          return false;
        next[k] = fresh_[0];
      }
      // First the makers are cut off, then the readers, whose loops keep to themselves.
      if (i == 0)
        summedIn_ = next;
    }
    for (size_t k = tile.size(); k-- > 0;)
      for (const std::string& summed : contraction_.summed)
        if (!attempt("reorder", {summedIn_[k], summed}))
          return false;
    return true;
  }

  /// Copies what one tile of columns reads, for all rows, with columns side by side. Where there is
  /// no place for a copy, lanes read elements that lie apart.
  bool pack(const std::vector<std::string>& buffers) {
    if (buffers.empty())
      return true;
    if (rowTiles_.empty() ||
        (!columnTiles_.empty() && !attempt("reorder", {rowTiles_, columnTiles_})))
      return false;
    for (const std::string& buffer : buffers) {
      size_t before = made_.nest.buffers.size();
      if (!attempt("pack", {buffer, rowTiles_}))
        return false;
      std::vector<std::string> loops = fresh_;
      const std::string copy = made_.nest.buffers[before].name;
      size_t rank = made_.nest.buffers[before].extents.size();
      size_t columns = columnDimension(uint32_t(before));
      if (columns != rank && !attempt("transpose", {copy, fmt::format("{}", columns),
                                                    fmt::format("{}", rank)}))
        return false;
      // What is stored side by side is copied so.
      for (size_t i = columns; i < loops.size(); ++i)
        attempt("reorder", {loops[columns - 1], loops[i]});
    }
    return true;
  }

  /// The dimension of a copy that columns go through, from 1 on.
  size_t columnDimension(uint32_t copy) {
    Name columns = *made_.nest.table.find(summedIn_.back());
    size_t found = made_.nest.buffers[copy].extents.size();
    forEachAccess(
        made_.nest.body, copy, [](std::vector<Form>&) {},
        [&](Operation& load) {
          for (size_t i = 0; i < load.places.size(); ++i)
            if (made_.nest.table.mentions(load.places[i].form, columns))
              found = i + 1;
        });
    return found;
  }

  Scheduled made_;
  const Contraction& contraction_;
  const MachineModel& machine_;
  /// The loops that the last step made, in the order of the text.
  std::vector<std::string> fresh_;
  /// The loops of the tile where the sum runs, and those over tiles.
  std::vector<std::string> summedIn_;
  std::string rowTiles_, columnTiles_;
};

} // namespace

std::vector<Contraction> contractionsIn(const Nest& nest, std::span<const Node> body) {
  std::vector<Contraction> found;
  std::vector<const Node*> path;
  findContractions(nest, body, path, found);
  return found;
}

void tileContraction(Scheduled& made, const Contraction& contraction, const MachineModel& machine) {
  if (auto tiled = Tiler(made, contraction, machine).run())
    made = *std::move(tiled);
}

} // namespace loops
