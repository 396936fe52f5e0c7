// The other way, with lanes along a row of the map, wants every window copied for itself, and
// leaves lanes empty where rows are short. A tile is a few points of a row by vectors of kernels.
#include "lower/loops/choose_windows.h"

#include "lower/loops/edit.h"
#include "lower/loops/tile_sums.h"
#include "lower/loops/trial.h"
#include "lower/loops/verify.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops {

namespace {

/// Products of a sum that pay for storing it across its lanes, and sums that pay for copying an
/// element of a kernel.
constexpr int64_t fewestProducts = 16, fewestSums = 96;
/// How many steps of a loop a piece of windows has at least, since those of neighbours overlap.
constexpr int64_t fewestInPiece = 4;
constexpr int64_t mostVectorsOfKernels = 4, mostPoints = 16;

class Windows {
public:
  Windows(const Scheduled& made, const Contraction& contraction, const MachineModel& machine)
      : trial_(made), contraction_(contraction), machine_(machine) {}

  std::optional<Scheduled> run() {
    trial_.attempt("narrow", {contraction_.accumulator});
    auto lanes = loopOfLanes();
    auto shape = lanes ? shapeOfTile(*lanes) : std::nullopt;
    if (!shape || !tile(*lanes, *shape) || !problemOf(trial_.nest()).empty())
      return std::nullopt;
    return trial_.take();
  }

private:
  Reading reading() { return Reading(trial_.nest(), contraction_); }
  const std::string& row() const { return contraction_.spatial.back(); }

  int64_t lanes() {
    uint32_t accumulator = findScratch(trial_.nest(), contraction_.accumulator);
    return machine_.vectorBytes / int64_t(trial_.nest().buffers[accumulator].dtype.bytes());
  }

  /// The loop over kernels: all that hangs on the row is a window, and all else hangs on this loop.
  std::optional<std::string> loopOfLanes() {
    Reading of = reading();
    if (!of.isPlain() || contraction_.spatial.size() < 2 || !goesOverWindows(of))
      return std::nullopt;
    std::optional<std::string> best;
    for (const std::string& loop : contraction_.spatial) {
      bool isOfKernels =
          loop != row() && std::ranges::all_of(of.operands(), [&](const Operand& operand) {
            return of.hangsOn(operand, row()) != of.hangsOn(operand, loop);
          });
      if (!isOfKernels || !hasWorkFor(of, loop) || (best && !areSideBySide(of, loop)))
        continue;
      best = loop;
    }
    if (best)
      noteOperands(of, *best);
    return best;
  }

  void noteOperands(Reading& of, const std::string& kernels) {
    for (const Operand& operand : of.operands())
      if (!of.hangsOn(operand, row())) {
        if (of.isApartAlong(operand, kernels))
          copied_.push_back(of.nameOf(operand));
      } else {
        windowBytes_ += bytesOf(trial_.nest().buffers[operand.buffer]);
        if (operand.hasOutside)
          padded_.push_back(of.nameOf(operand));
      }
  }

  /// Whether kernels are read element by element along a loop.
  bool areSideBySide(Reading& of, const std::string& loop) {
    return std::ranges::none_of(of.operands(), [&](const Operand& operand) {
      return of.hangsOn(operand, loop) && of.isApartAlong(operand, loop);
    });
  }

  bool goesOverWindows(Reading& of) {
    return std::ranges::all_of(of.operands(), [&](const Operand& operand) {
      return !of.hangsOn(operand, row()) || isWindow(of, operand);
    });
  }

  /// Whether the sum goes along an operand in the way of the row, farther than a step of that.
  bool isWindow(Reading& of, const Operand& operand) {
    int64_t step = of.bytesAlong(operand, row()).value_or(0);
    int64_t row = step * trial_.countOf(this->row()).value_or(0);
    return std::ranges::any_of(contraction_.summed, [&](const std::string& summed) {
      int64_t inside = of.bytesAlong(operand, summed).value_or(0);
      return step > 0 && inside > 0 && inside < row && inside * of.extentOf(summed) > step;
    });
  }

  bool hasWorkFor(Reading& of, const std::string& loop) {
    auto count = trial_.countOf(loop);
    int64_t sums = 1;
    for (const std::string& other : contraction_.spatial)
      if (other != loop)
        sums = std::min<int64_t>(sums * of.extentOf(other), fewestSums);
    return count && *count >= lanes() && of.productsOfSum() >= fewestProducts &&
           sums >= (areSideBySide(of, loop) ? fewestSumsOfPanels : fewestSums);
  }

  struct Shape {
    int64_t rows, vectors;
  };

  /// What makes products cheapest. Kernels that are left over cost as if they filled vectors.
  std::optional<Shape> shapeOfTile(const std::string& kernels) {
    // What is left over has loops of its own, and is stored lane by lane.
    constexpr double withRest = 1.15;
    std::optional<Shape> best;
    double least = 1e300;
    int64_t row = *trial_.countOf(this->row()), count = *trial_.countOf(kernels);
    for (int64_t vectors = 1; vectors <= mostVectorsOfKernels; ++vectors) {
      int64_t most = std::min({(machine_.registers - 2 - vectors) / vectors, mostPoints, row});
      int64_t columns = vectors * lanes(), tiles = (count + columns - 1) / columns;
      for (int64_t rows = 2; rows <= most && columns <= count; ++rows) {
        if (isExcluded(machine_.choices.tileVectors, vectors) ||
            isExcluded(machine_.choices.tileRows, rows))
          continue;
        double cost = double(row / rows) * costOfTile(rows, vectors);
        if (row % rows > 0)
          cost = (cost + costOfTile(row % rows, vectors)) * withRest;
        if (cost * double(tiles) < least) {
          least = cost * double(tiles);
          best = Shape{rows, vectors};
        }
      }
    }
    return best;
  }

  static bool isExcluded(int64_t chosen, int64_t value) { return chosen > 0 && chosen != value; }

  int64_t bytesOf(const Buffer& buffer) {
    constexpr int64_t most = INT64_C(1) << 40, mostOfOne = 1 << 20;
    auto bytes = int64_t(buffer.dtype.bytes());
    for (Form extent : buffer.extents) {
      int64_t count = trial_.nest().table.constantOf(extent).value_or(1);
      bytes = std::min(bytes * std::clamp<int64_t>(count, 1, mostOfOne), most);
    }
    return bytes;
  }

  /// Puts the loops that kernels hang on in front of all others, that over kernels last.
  bool kernelsFirst(const std::string& kernels) {
    Reading of = reading();
    std::vector<std::string> wanted = contraction_.spatial;
    auto isOfKernels = [&](const std::string& loop) {
      return loop != kernels && std::ranges::any_of(of.operands(), [&](const Operand& operand) {
               return of.hangsOn(operand, loop) && !of.hangsOn(operand, row());
             });
    };
    auto rest = std::stable_partition(wanted.begin(), wanted.end(), isOfKernels);
    auto own = std::find(rest, wanted.end(), kernels);
    std::rotate(rest, own, own + 1);
    return trial_.ordered(contraction_.spatial, wanted);
  }

  bool tile(const std::string& kernels, const Shape& shape) {
    const std::vector<std::string>& loops = contraction_.spatial;
    auto column =
        kernelsFirst(kernels) ? trial_.tiled(kernels, shape.vectors * lanes()) : std::nullopt;
    if (!column)
      return false;
    size_t inside = size_t(std::ranges::find(loops, kernels) - loops.begin()) + 1;
    for (size_t i = inside; i < loops.size(); ++i)
      if (!trial_.attempt("reorder", {column->inner, loops[i]}))
        return false;
    auto rows = trial_.tiled(row(), shape.rows);
    const std::string& accumulator = contraction_.accumulator;
    if (!rows || !trial_.attempt("expand", {accumulator, column->inner}) ||
        !trial_.attempt("expand", {accumulator, rows->inner}))
      return false;
    auto tile = sumInside(trial_, contraction_, {rows->inner, column->inner});
    if (!tile || !trial_.attempt("unroll", {tile->summed[0]}) || !storeAcross(tile->readers[0]))
      return false;
    std::vector<std::string> outer(loops.begin(), loops.begin() + ptrdiff_t(inside));
    outer.back() = column->outer;
    if (column->outer.empty())
      outer.pop_back();
    std::vector<std::string> points(loops.begin() + ptrdiff_t(inside), loops.end() - 1);
    std::string next = points.empty() ? rows->outer : points[0];
    auto piece = pieceInFront(points, outer);
    return padWindows(outer.empty() ? next : outer[0]) &&
           (piece ? copyKernels(*piece, outer.size()) : copyKernels(next, 0));
  }

  /// Cuts the innermost of the loops over points so that windows in a piece stay near while all
  /// kernels go over them, and puts the loop over pieces, and those around it, in front of those
  /// over kernels; gives the first.
  std::optional<std::string> pieceInFront(const std::vector<std::string>& points,
                                          const std::vector<std::string>& kernels) {
    auto count = points.empty() ? std::nullopt : trial_.countOf(points.back());
    if (!count || kernels.empty() || windowBytes_ <= machine_.choices.windowBytes)
      return std::nullopt;
    int64_t size = *count, bytes = windowBytes_ / *count;
    for (const std::string& loop : std::span(points).first(points.size() - 1))
      bytes /= std::max<int64_t>(trial_.countOf(loop).value_or(1), 1);
    for (int64_t next = size; next >= fewestInPiece; --next)
      if (*count % next == 0 && bytes * size > machine_.choices.windowBytes)
        size = next;
    std::vector<std::string> front = points;
    Scheduled before = trial_.made();
    if (size == *count)
      front.pop_back();
    else if (trial_.attempt("split", {points.back(), fmt::format("{}", size)}))
      front.back() = trial_.fresh()[0];
    for (const std::string& loop : front)
      for (size_t i = kernels.size(); i-- > 0;)
        if (!trial_.attempt("reorder", {kernels[i], loop})) {
          trial_.restore(std::move(before));
          return std::nullopt;
        }
    return front.empty() ? std::nullopt : std::optional(front[0]);
  }

  /// Copies windows, with what counts for places outside, in front of a loop.
  bool padWindows(const std::string& first) {
    return std::ranges::all_of(padded_, [&](const std::string& name) {
      return trial_.attempt("pack", {name, first});
    });
  }

  /// Sums are read along their lanes, and stored along a row.
  bool storeAcross(const std::string& readers) {
    const Node* inner = &findLoop(trial_.nest(), readers).node();
    while (std::holds_alternative<Loop>(inner->what) && inner->body.size() == 1)
      inner = &inner->body[0];
    const auto* statement = std::get_if<Statement>(&inner->what);
    return statement &&
           trial_.attempt("stage",
                          {trial_.nest().buffers[statement->stores[0].buffer].name, readers}) &&
           trial_.fresh().size() == 2 &&
           trial_.attempt("reorder", {trial_.fresh()[0], trial_.fresh()[1]});
  }

  /// Copies what lanes read, in the order in which they do, in front of a loop with so many loops
  /// over kernels inside. The elements of a kernel are gone through in one loop, so that it is a
  /// transposition.
  bool copyKernels(const std::string& first, size_t kernelLoops) {
    for (const std::string& name : copied_) {
      if (!trial_.attempt("line-up", {name, first}))
        return false;
      std::vector<std::string> made = trial_.fresh();
      made.erase(made.begin(), made.begin() + ptrdiff_t(std::min(kernelLoops, made.size())));
      while (made.size() > 2 && trial_.attempt("merge", {made[0], made[1]})) {
        made.erase(made.begin());
        made[0] = trial_.fresh()[0];
      }
    }
    return true;
  }

  Trial trial_;
  Contraction contraction_;
  const MachineModel& machine_;
  /// Kernels that do not lie side by side, and windows with numbers for places outside.
  std::vector<std::string> copied_, padded_;
  /// Of all windows of the call.
  int64_t windowBytes_ = 0;
};

} // namespace

std::optional<Scheduled> tiledWindows(const Scheduled& made, const Contraction& contraction,
                                      const MachineModel& machine) {
  return Windows(made, contraction, machine).run();
}

} // namespace loops
