// What ways to run a contraction have in common: its factors, evaluated strip by strip.
#pragma once

#include "codegen/strips/thread.h"
#include "lower/elements/products.h"

namespace strips {

/// Below so many rows or columns nothing is packed.
inline constexpr int64_t fewRows = 8;

/// How many positions each kind of axes has.
struct Extents {
  int64_t batches, rows, columns, summed;
};

/// Sets positions of a contraction and evaluates its factors there, on registers of its own.
class Evaluator {
public:
  Evaluator(const Thread& around, const Contraction& contraction);

  const Contraction& contraction() const { return contraction_; }
  Extents extents() const;
  std::byte* result() const { return thread_.buffer(contraction_.buffer); }

  void setBatch(int64_t batch) { set(batches(), batch); }
  void setSummed(int64_t position) { set(summed(), position); }
  /// Goes on to the summed position behind the one that is set.
  void nextSummed();
  void setPosition(const Side& side, int64_t position) { set(axesOf(side), position); }
  /// Of a factor that runs along its own axes: a strip that begins at this position, of so many
  /// lanes at most; gives how many it has.
  size_t setStrip(const Side& side, int64_t position, size_t most);
  /// The same along the summed axes.
  size_t setSummedStrip(const Side& side, int64_t position, size_t most);
  /// The strip of a factor at the positions that are set.
  const std::byte* strip(const Side& side);

  /// Where elements lie in the result.
  int64_t offsetOf(const Side& side, int64_t position) const {
    return offsetOf(axesOf(side), position);
  }
  int64_t offsetOfBatch(int64_t batch) const {
    return thread_.number(contraction_.offset) + offsetOf(batches(), batch);
  }
  void offsetsOf(const Side& side, int64_t first, size_t count, Pooled<int64_t>& offsets) const;

private:
  using Axes = std::span<const Axis>;

  Axes axes(uint32_t first, uint32_t count) const {
    return {thread_.program().axes.data() + first, count};
  }
  Axes axesOf(const Side& side) const { return axes(side.firstAxis, side.axisCount); }
  Axes batches() const { return axes(contraction_.firstBatch, contraction_.batchCount); }
  Axes summed() const { return axes(contraction_.firstSummed, contraction_.summedCount); }
  int64_t countOf(Axes axes) const;
  void set(Axes axes, int64_t position);
  size_t setStrip(Axes axes, uint32_t count, int64_t position, size_t most);
  int64_t offsetOf(Axes axes, int64_t position) const;

  const Contraction& contraction_;
  Thread thread_;
};

/// Runs a contraction with few rows, or few columns: the few are evaluated for all summed
/// positions, of the many each strip is read once.
void runFewRows(Thread& thread, const Contraction& contraction, const Extents& extents,
                unsigned threads);

} // namespace strips
