// Ways of tiling are tried one after the other, each from the start.
#include "lower/loops/choose_contraction.h"

#include "lower/loops/choose_groups.h"
#include "lower/loops/choose_windows.h"
#include "lower/loops/edit.h"
#include "lower/loops/few_rows.h"
#include "lower/loops/tile_sums.h"
#include "lower/loops/trial.h"
#include "lower/loops/verify.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops {

namespace {

/// Vectors of columns in a tile with rows where how many columns there are is open, and in one
/// without rows.
constexpr int64_t vectorsOfOpen = 2, vectorsAlone = 4;
/// And where lines from far away are added up.
constexpr int64_t vectorsOfStream = 16;
/// Rows of a tile, at most; loops of more are not written out.
constexpr int64_t mostRows = 16;
/// Rows from which on it is worth while to pack what they share, and to copy what is fit for lanes
/// but lies far apart from one product to the next.
constexpr int64_t rowsWorthPacking = 8, rowsWorthCopying = 32;
/// Bytes from one element to the next that are far apart, and so few that vectors are loaded whole.
constexpr int64_t farApart = 2048, fewBytes = 16;
/// How many rows a tile has: as many as registers hold beside what is read. Fewer without a rest
/// are better where all that they read is near.
int64_t rowsOfTile(std::optional<int64_t> count, int64_t vectors, int64_t fewest,
                   const MachineModel& machine) {
  int64_t most = std::clamp<int64_t>((machine.registers - 2 - vectors) / vectors, 2, mostRows);
  if (machine.choices.tileRows > 0)
    return std::min({most, machine.choices.tileRows, count.value_or(most)});
  if (!count || *count <= most)
    return count.value_or(most);
  for (int64_t rows = most; rows >= fewest; --rows)
    if (*count % rows == 0)
      return rows;
  return most;
}

/// What a tiler may do. Elements that others are made of behind a sum want all rows in one loop; so
/// there may be no rest of rows, or not even copies and joined loops.
enum class Means : uint8_t { All, WholeRows, Tiles };

class Tiler {
public:
  Tiler(Scheduled made, const Contraction& contraction, const MachineModel& machine, Means means,
        bool groups)
      : trial_(std::move(made)), contraction_(contraction), machine_(machine), means_(means),
        groups_(groups) {}

  std::optional<Scheduled> run() {
    if (!reading().isPlain())
      return std::nullopt;
    // A sum that is wide for a reason stays so.
    attempt("narrow", {contraction_.accumulator});
    if (groups_ && !groupProducts(trial_, contraction_, machine_))
      return std::nullopt;
    auto rows = reading().rows();
    if (groups_ && (!rows || reading().extentOf(*rows) < rowsWorthPacking))
      return std::nullopt;
    if (!(rows ? withRows(*rows) : columnsAlone()) || !problemOf(trial_.nest()).empty())
      return std::nullopt;
    return trial_.take();
  }

private:
  using Pieces = Trial::Pieces;

  bool attempt(std::string_view rewrite, std::vector<std::string> arguments) {
    return trial_.attempt(rewrite, std::move(arguments));
  }
  std::optional<Pieces> tiled(const std::string& loop, int64_t piece) {
    return trial_.tiled(loop, piece);
  }
  std::optional<int64_t> countOf(const std::string& loop) { return trial_.countOf(loop); }
  const std::vector<std::string>& fresh() const { return trial_.fresh(); }

  int64_t lanes() {
    uint32_t accumulator = findScratch(trial_.nest(), contraction_.accumulator);
    int64_t bytes = int64_t(trial_.nest().buffers[accumulator].dtype.bytes());
    return std::max<int64_t>(1, machine_.vectorBytes / bytes);
  }

  bool mayArrange() const { return means_ != Means::Tiles; }
  Reading reading() { return Reading(trial_.nest(), contraction_); }

  /// How many of the other loops over columns are joined with the innermost, from behind: all that
  /// stay side by side, and as many as make products cheaper.
  size_t joinedColumns(const std::string& rows, const std::vector<std::string>& more) {
    constexpr double worthJoining = 0.95;
    Reading of = reading();
    int64_t columns = of.extentOf(contraction_.spatial.back());
    row_ = columns;
    size_t best = 0;
    double least = tileOf(rows, columns, false).cost / double(columns) * worthJoining;
    for (size_t count = 0; count < more.size() && columns < 4 * lanes() &&
                           countOf(more[more.size() - count - 1]) &&
                           countOf(contraction_.spatial.back());) {
      columns *= of.extentOf(more[more.size() - ++count]);
      if (double cost = tileOf(rows, columns, true).cost / double(columns); cost < least) {
        best = count;
        least = cost;
      }
    }
    return best;
  }

  /// Rows next to columns, with other loops over columns outside of both or joined to one.
  bool arrange(const std::string& rows) {
    std::vector<std::string> more =
        mayArrange() ? reading().moreColumns(rows) : std::vector<std::string>();
    size_t joined = joinedColumns(rows, more);
    std::vector<std::string> wanted;
    for (const std::string& loop : contraction_.spatial)
      if (loop != rows &&
          std::ranges::find(more.end() - ptrdiff_t(joined), more.end(), loop) == more.end())
        wanted.push_back(loop);
    if (joined > 0)
      wanted.pop_back();
    else
      wanted.insert(wanted.end() - 1, rows);
    if (joined > 0) {
      wanted.push_back(rows);
      wanted.insert(wanted.end(), more.end() - ptrdiff_t(joined), more.end());
      wanted.push_back(contraction_.spatial.back());
    }
    if (!trial_.ordered(contraction_.spatial, wanted))
      return false;
    if (mayArrange())
      pad(joined > 0 || more.empty() ? rows : more.back());
    isJoined_ = joined > 0;
    for (; joined > 0; --joined) {
      std::vector<std::string>& loops = contraction_.spatial;
      if (!attempt("merge", {loops[loops.size() - 2], loops.back()}) || fresh().size() != 1)
        return false;
      loops.pop_back();
      loops.back() = fresh()[0];
    }
    return true;
  }

  /// Copies what has numbers for places outside, with these, so that sums need not ask.
  void pad(const std::string& loop) {
    for (const Operand& operand : reading().ofLanes())
      if (operand.hasOutside)
        attempt("pack", {reading().nameOf(operand), loop});
  }

  struct Width {
    int64_t columns;
    /// Of all products, by tiles so wide.
    double cost;
  };

  /// Columns of a tile: all, where these are few, or else as many as make products cheapest. What
  /// is left of joined loops by tiles is not proven to be the rest of all, and lanes that go on
  /// behind a row in its midst are read one by one; so these have tiles without, if there are any.
  Width tileOf(const std::string& rows, int64_t count, bool isJoined) {
    // What is left over has loops of its own.
    constexpr double withRest = 1.03;
    int64_t most = mostVectors() * lanes(), step = isJoined ? 1 : lanes();
    std::vector<double> costs(size_t(mostVectors()) + 1);
    for (int64_t vectors = 1; vectors <= mostVectors(); ++vectors)
      costs[size_t(vectors)] = costBeside(rows, vectors);
    auto costOf = [&](int64_t width) {
      double whole = double(count / width) * costs[size_t(vectorsOf(width))];
      return count % width == 0 ? whole
                                : (whole + costs[size_t(vectorsOf(count % width))]) * withRest;
    };
    if (count <= most)
      return {count, costs[size_t(vectorsOf(count))]};
    Width best{vectorsOfOpen * lanes(), 1e300};
    int64_t least = machine_.choices.tileVectors > 0 ? most : step;
    for (int64_t width = least; width <= most; width += step) {
      bool isWhole = count % width == 0 && (row_ % width == 0 || width % row_ == 0);
      if (double cost = costOf(width); (isWhole || !isJoined) && cost < best.cost)
        best = {width, cost};
    }
    return best;
  }

  int64_t columnsOfTile(const std::string& rows) {
    auto count = countOf(contraction_.spatial.back());
    return count ? tileOf(rows, *count, isJoined_).columns : vectorsOfOpen * lanes();
  }

  int64_t mostVectors() const {
    if (machine_.choices.tileVectors > 0)
      return machine_.choices.tileVectors;
    return machine_.registers >= 32 ? 4 : 2;
  }

  /// What the products of all rows with so many vectors cost.
  double costBeside(const std::string& rows, int64_t vectors) {
    int64_t count = reading().extentOf(rows), tile = rowsBeside(rows, vectors), rest = count % tile;
    return double(count / tile) * costOfTile(tile, vectors) +
           (rest > 0 ? costOfTile(rest, vectors) : 0);
  }

  int64_t bytesOfTile(int64_t vectors) {
    return reading().productsOfSum() * vectors * machine_.vectorBytes;
  }

  /// Whether a step of a loop goes as far along what it reads as an open size says.
  bool isOpenAlong(const std::string& loop) {
    Reading of = reading();
    return std::ranges::any_of(of.operands(), [&](const Operand& operand) {
      return of.hangsOn(operand, loop) && !of.bytesAlong(operand, loop);
    });
  }

  /// Rows of a tile beside so many vectors.
  int64_t rowsBeside(const std::string& rows, int64_t vectors) {
    // Without copies numbers for places outside take registers, too.
    MachineModel machine = machine_;
    // Compilers read more rows ahead where the way from one to the next is no number.
    if (machine.registers >= 32 && isOpenAlong(rows))
      --machine.registers;
    if (!mayArrange() && std::ranges::any_of(reading().ofLanes(), &Operand::hasOutside))
      machine.registers -= machine.registers / 4;
    int64_t tile =
        rowsOfTile(countOf(rows), vectors, fewestRows(bytesOfTile(vectors), vectors), machine);
    // A row alone is no tile, and nothing else runs groups.
    bool isLeft = !contraction_.group.empty() && countOf(rows).value_or(tile) % tile == 1;
    return isLeft && tile > 2 ? tile - 1 : tile;
  }

  int64_t vectorsOf(int64_t columns) { return (columns + lanes() - 1) / lanes(); }

  /// What is copied for lanes, in the order in which it is read.
  std::vector<std::string> copiedForLanes(const std::string& rows) {
    Reading of = reading();
    std::vector<std::string> found;
    for (const Operand& operand : of.ofLanes()) {
      bool isFar = mayArrange() && of.extentOf(rows) >= rowsWorthCopying &&
                   of.bytesAlong(operand, contraction_.summed.back()).value_or(0) >= farApart;
      if (of.isApart(operand) || isFar)
        found.push_back(of.nameOf(operand));
    }
    return found;
  }

  std::vector<std::string> othersOfLanes(const std::vector<std::string>& copied) {
    Reading of = reading();
    std::vector<std::string> found;
    for (const Operand& operand : of.ofLanes())
      if (std::ranges::find(copied, of.nameOf(operand)) == copied.end())
        found.push_back(of.nameOf(operand));
    return found;
  }

  bool withRows(const std::string& rows) {
    if (!arrange(rows))
      return false;
    Reading of = reading();
    const std::string columns = contraction_.spatial.back();
    std::vector<std::string> copied = copiedForLanes(rows), others = othersOfLanes(copied);
    mayCopy_ = of.extentOf(rows) >= rowsWorthPacking;
    mustCopy_ = std::ranges::any_of(of.ofLanes(),
                                    [&](const Operand& operand) { return of.isApart(operand); });
    int64_t width = columnsOfTile(rows), vectors = vectorsOf(width);
    if (width < 2)
      return false;
    int64_t rowsOfOne = rowsBeside(rows, vectors), tileBytes = bytesOfTile(vectors);
    auto column = tiled(columns, width);
    if (!column || (column->hasRest && !attempt("fission", {rows, "1"})))
      return false;
    std::string block = column->outer;
    if (!block.empty() && !copied.empty() && !blocked(rows, tileBytes, block))
      return false;
    auto row = tiled(rows, rowsOfOne);
    if (!row || (!block.empty() && !attempt("reorder", {row->inner, block})))
      return false;
    rowTiles_ = row->outer;
    const std::string& accumulator = contraction_.accumulator;
    return attempt("expand", {accumulator, column->inner}) &&
           attempt("expand", {accumulator, row->inner}) && sumInside({row->inner, column->inner}) &&
           attempt("unroll", {summedIn_[0]}) &&
           (contraction_.group.empty() || attempt("vector", {summedIn_[1]})) &&
           copyOperands(copied, others);
  }

  /// Fewer rows than registers hold are better without a rest where all that they read is near.
  int64_t fewestRows(int64_t tileBytes, int64_t vectors) const {
    int64_t most = rowsOfTile(std::nullopt, vectors, 0, machine_);
    return means_ == Means::WholeRows                ? 2
           : tileBytes <= machine_.choices.nearBytes ? most / 2 + 1
                                                     : most * 3 / 4 + 1;
  }

  /// The loop that what is padded is copied in front of: that over rows; or where planes are small,
  /// one over a few of them. A copy is read well only once it has left the way to the cache.
  std::string loopOfPlanes() {
    constexpr int64_t bytesOfPlanes = 16 << 10;
    std::vector<std::string>& loops = contraction_.spatial;
    const std::string rows = loops[loops.size() < 2 ? 0 : loops.size() - 2];
    if (loops.size() < 3)
      return rows;
    std::string& planes = loops[loops.size() - 3];
    int64_t bytes = 0;
    Reading of = reading();
    for (const Operand& operand : of.ofLanes())
      if (operand.hasOutside)
        bytes += of.bytesAlong(operand, planes).value_or(bytesOfPlanes);
    int64_t count = countOf(planes).value_or(1), piece = 1;
    for (int64_t next = 2; bytes > 0 && next <= count && next * bytes <= bytesOfPlanes; ++next)
      if (count % next == 0)
        piece = next;
    if (piece == 1 || piece == count || !attempt("split", {planes, fmt::format("{}", piece)}) ||
        fresh().size() != 2)
      return rows;
    std::string inside = fresh()[1];
    planes = fresh()[0];
    loops.insert(loops.end() - 2, inside);
    return inside;
  }

  bool columnsAlone() {
    const std::vector<std::string>& loops = contraction_.spatial;
    if (mayArrange())
      pad(loopOfPlanes());
    Reading of = reading();
    for (const Operand& operand : of.ofLanes()) {
      auto bytes = of.bytesAlong(operand, loops.back());
      if (!bytes || *bytes <= 0 ||
          (of.isApart(operand) && (!mayArrange() || operand.hasOutside || *bytes > fewBytes)))
        return false;
    }
    int64_t vectors = isStreamed() ? vectorsOfStream : vectorsAlone;
    auto column = tiled(loops.back(), vectors * lanes());
    if (!column || !attempt("expand", {contraction_.accumulator, column->inner}) ||
        !sumInside({column->inner}))
      return false;
    const std::string innermost = contraction_.summed.back();
    if (vectors == vectorsOfStream)
      return streamed(innermost);
    if (mayArrange() && countOf(innermost).value_or(mostRows) < mostRows)
      attempt("unroll", {innermost});
    return true;
  }

  /// Whether all that lanes read lies far apart from one product to the next, and is read once:
  /// long lines that come from far away.
  bool isStreamed() {
    constexpr int64_t fewProducts = 64;
    Reading of = reading();
    return mayArrange() && contraction_.summed.size() == 1 && of.productsOfSum() >= fewProducts &&
           std::ranges::all_of(of.ofLanes(), [&](const Operand& operand) {
             return of.bytesAlong(operand, contraction_.summed[0]).value_or(farApart) >= farApart;
           });
  }

  /// Several lines are added to the accumulators at once, which need not be loaded and stored for
  /// each.
  bool streamed(const std::string& summed) {
    constexpr int64_t lines = 8;
    auto some = tiled(summed, lines);
    return some && attempt("reorder", {some->inner, summedIn_[0]}) &&
           attempt("unroll", {some->inner}) && attempt("vector", {summedIn_[0]});
  }

  bool sumInside(const std::vector<std::string>& tile) {
    auto loops = loops::sumInside(trial_, contraction_, tile);
    if (loops)
      summedIn_ = loops->summed;
    return loops.has_value();
  }

  /// Puts as many tiles of columns as stay near into one block, inside of the loop over rows, and
  /// others around it. The block is the loop over tiles, and then that over those of one. Groups
  /// are multiplied faster than the second cache gives them, so one tile that stays in the first is
  /// a block; of short sums what is stored far apart costs more than that saves.
  bool blocked(const std::string& rows, int64_t tileBytes, std::string& block) {
    const std::string tiles = block;
    auto count = countOf(tiles);
    const int64_t near = machine_.choices.nearBytes, longSum = near / 4;
    bool isNear = !contraction_.group.empty() && tileBytes > longSum && tileBytes <= near;
    int64_t most = count && mayArrange() && !isNear
                       ? std::max<int64_t>(1, machine_.choices.blockBytes / tileBytes)
                       : 1,
            size = 1;
    for (int64_t next = 2; count && next <= std::min(most, *count); ++next)
      if (*count % next == 0)
        size = next;
    block = size > 1 ? tiles : "";
    if (count == size)
      return true;
    std::string around = tiles;
    if (size > 1) {
      if (!attempt("split", {tiles, fmt::format("{}", size)}) || fresh().size() != 2)
        return false;
      around = fresh()[0];
      block = fresh()[1];
    }
    return attempt("reorder", {rows, around});
  }

  /// Copies what tiles of columns read, for all rows; what need not be copied is read from a copy
  /// that others made.
  bool copyOperands(const std::vector<std::string>& copied,
                    const std::vector<std::string>& others) {
    for (const std::string& buffer : copied)
      if (!lineUp(buffer))
        return !mustCopy_;
    if (mayArrange() && rowTiles_.empty())
      for (const std::string& buffer : others)
        readKnownCopy(buffer);
    return true;
  }

  void readKnownCopy(const std::string& buffer) {
    const std::string& outermost = contraction_.spatial.front();
    if (findLoop(trial_.nest(), outermost).at == 0)
      return;
    Scheduled before = trial_.made();
    if (attempt("line-up", {buffer, outermost}) &&
        trial_.nest().buffers.size() > before.nest.buffers.size())
      trial_.restore(std::move(before));
  }

  /// Rows that are left over read the copy that was made for the others, if it is there.
  bool lineUp(const std::string& buffer) {
    if (!rowTiles_.empty())
      return mayCopy_ && attempt("line-up", {buffer, rowTiles_}) && groupCopy();
    for (const std::string& place : {contraction_.spatial.front(), contraction_.summed[0]}) {
      Scheduled before = trial_.made();
      if (attempt("line-up", {buffer, place})) {
        if (trial_.nest().buffers.size() == before.nest.buffers.size())
          return true;
        if (mayCopy_ && place == contraction_.summed[0])
          return groupCopy();
        trial_.restore(std::move(before));
      }
    }
    return false;
  }

  /// Has a copy made a group at once, in lanes, as it is read.
  bool groupCopy() {
    if (contraction_.group.empty() || fresh().size() < 2)
      return true;
    std::vector<std::string> made = fresh();
    return attempt("group", {made.back()}) && attempt("vector", {made[made.size() - 2]});
  }

  Trial trial_;
  Contraction contraction_;
  const MachineModel& machine_;
  Means means_;
  bool groups_;
  /// The loops of the tile where the sum runs, and that over tiles of rows.
  std::vector<std::string> summedIn_;
  std::string rowTiles_;
  bool isJoined_ = false;
  /// Columns of the innermost loop, before others are joined to it.
  int64_t row_ = 1;
  /// Whether there are rows enough for a copy of what lanes read, and whether it is wanted in any
  /// case.
  bool mayCopy_ = false, mustCopy_ = false;
};

} // namespace

void tileContraction(Scheduled& made, const Contraction& contraction, const MachineModel& machine) {
  // The last of several statements behind a sum reads what others make.
  constexpr size_t nodesWithOneReader = 4;
  bool hasReaders =
      findLoop(made.nest, contraction.spatial.back()).node().body.size() > nodesWithOneReader;
  auto tile = [&](bool groups) {
    for (Means means : {Means::All, Means::WholeRows, Means::Tiles}) {
      if ((means == Means::All && hasReaders) || (groups && means == Means::Tiles))
        continue;
      if (auto tiled = Tiler(made, contraction, machine, means, groups).run()) {
        made = *std::move(tiled);
        return true;
      }
    }
    return false;
  };
  if (mayGroup(made.nest, contraction, machine) && tile(true))
    return;
  bool mayBeWindows = contraction.isOfProducts && machine.choices.kernelsInLanes != 0;
  if (auto tiled = mayBeWindows ? tiledWindows(made, contraction, machine) : std::nullopt) {
    made = *std::move(tiled);
    return;
  }
  if (auto tiled =
          contraction.isOfProducts ? tiledFewRows(made, contraction, machine) : std::nullopt)
    made = *std::move(tiled);
  else
    tile(false);
}

} // namespace loops
