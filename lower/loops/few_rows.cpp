// More rows are worth a copy of the columns in the order in which tiles read them.
#include "lower/loops/few_rows.h"

#include "lower/loops/edit.h"
#include "lower/loops/trial.h"
#include "lower/loops/verify.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace loops {

namespace {

/// Rows that are summed together, and rows that are few.
constexpr int64_t mostTogether = 7, mostFewRows = 11;

/// How many of the rows are summed together: all, or as many as leave none, or half of them.
int64_t rowsTogether(int64_t count) {
  for (int64_t rows = mostTogether; rows > 2; --rows)
    if (count % rows == 0)
      return rows;
  return count <= mostTogether ? count : (count + 1) / 2;
}

class FewRows {
public:
  FewRows(const Scheduled& made, const Contraction& contraction, const MachineModel& machine)
      : trial_(made), contraction_(contraction), machine_(machine) {}

  std::optional<Scheduled> run() {
    Reading of(trial_.nest(), contraction_);
    auto rows = of.rows();
    auto count = rows ? trial_.countOf(*rows) : std::nullopt;
    if (!of.isPlain() || !count || *count < 1 || *count > mostFewRows ||
        contraction_.summed.size() != 1 || !isAlongSum(of))
      return std::nullopt;
    const int64_t together = rowsTogether(*count);
    bool isDone = setRestApart(*rows, *count, together) && rowsInside(*rows);
    if (isDone && together > 1)
      if (auto pieces = trial_.tiled(*rows, together))
        rows = pieces->inner;
    isDone = isDone && sumInLanes(together) && shareColumns(*rows);
    if (!isDone || !problemOf(trial_.nest()).empty())
      return std::nullopt;
    return trial_.take();
  }

private:
  /// Whether all that is read lies side by side along the sum.
  bool isAlongSum(Reading& of) {
    return std::ranges::all_of(of.operands(), [&](const Operand& operand) {
      return !operand.hasOutside && !of.isApartAlong(operand, contraction_.summed[0]);
    });
  }

  /// Rows that do not fill what is summed together are products of their own.
  bool setRestApart(const std::string& rows, int64_t count, int64_t together) {
    return count % together == 0 || (rows == contraction_.spatial.front() &&
                                     trial_.attempt("peel", {rows, fmt::format("{}", together)}));
  }

  bool rowsInside(const std::string& rows) {
    std::vector<std::string>& loops = contraction_.spatial;
    for (auto at = std::ranges::find(loops, rows); at + 1 != loops.end(); ++at) {
      if (!trial_.attempt("reorder", {*at, *(at + 1)}))
        return false;
      std::iter_swap(at, at + 1);
    }
    return true;
  }

  /// Partial sums of a row, in as many vectors as keep additions of all rows from waiting for each
  /// other.
  bool sumInLanes(int64_t rows) {
    const std::string &sum = contraction_.accumulator, &loop = contraction_.summed[0];
    trial_.attempt("narrow", {sum});
    const Buffer& buffer = trial_.nest().buffers[findScratch(trial_.nest(), sum)];
    auto vectors = int64_t(std::bit_floor(uint64_t(2 * machine_.choices.sumVectors / rows)));
    int64_t lanes = vectors * machine_.vectorBytes / int64_t(buffer.dtype.bytes());
    auto products = trial_.countOf(loop);
    if (lanes < 2 || (products && *products < 2 * lanes))
      return false;
    auto pieces = trial_.tiled(loop, lanes);
    if (!pieces || pieces->outer.empty())
      return false;
    pieces_ = *pieces;
    if (!trial_.attempt("partial", {sum, pieces_.inner}))
      return false;
    partialSums_ = trial_.nest().buffers.back().name;
    return true;
  }

  /// The rows of a column are started, summed and ended one after the other, each in a loop of its
  /// own; that which sums stands inside of the sum.
  bool shareColumns(const std::string& rows) {
    if (!trial_.attempt("expand", {contraction_.accumulator, rows}) ||
        !trial_.attempt("expand", {partialSums_, rows}) || !trial_.attempt("fission", {rows, "2"}))
      return false;
    std::string summed = trial_.fresh()[0];
    return trial_.attempt("fission", {summed, "1"}) &&
           trial_.attempt("reorder", {summed, pieces_.outer}) &&
           trial_.attempt("unroll", {summed}) && trial_.attempt("vector", {pieces_.inner});
  }

  Trial trial_;
  Contraction contraction_;
  const MachineModel& machine_;
  Trial::Pieces pieces_;
  std::string partialSums_;
};

} // namespace

std::optional<Scheduled> tiledFewRows(const Scheduled& made, const Contraction& contraction,
                                      const MachineModel& machine) {
  return FewRows(made, contraction, machine).run();
}

} // namespace loops
