// Contractions with few rows: nothing is packed, so a matrix is read once, where it lies.
//
// The rows are evaluated for all summed positions. Strips of the other side run along its own
// columns, and are added with a factor each, or along the last summed axis, and are multiplied with
// a piece of a row, in vectors of which each lane adds 32 products in float32 at most before they
// are added in float64. The order depends neither on the threads nor on the processor.
#include "lower/strips/tensor_eval_rows.h"

#include "lower/elements/products.h"
#include "lower/strips/tensor_eval_strip.h"
#include "runtime/function_ref.h"
#include "runtime/parts.h"
#include "runtime/pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lower {

namespace {

/// The rows at all summed positions, and for one strip of each what is added up and stored.
struct Buffers {
  Buffers(size_t rows, size_t depth, size_t strip)
      : memory((rows * strip + strip) * (sizeof(double) + sizeof(float)) +
               rows * depth * sizeof(float)),
        totals(reinterpret_cast<double*>(memory.bytes())),
        offsets(reinterpret_cast<int64_t*>(totals + rows * strip)),
        sums(reinterpret_cast<float*>(offsets + strip)), rounded(sums + rows * strip),
        values(rounded + strip) {}

  runtime::Block memory;
  double* totals;
  int64_t* offsets;
  float* sums;
  /// Of at most 32 bits each.
  float* rounded;
  float* values;
};

class RowContractor {
public:
  RowContractor(const Contraction& contraction, const std::byte* const* tensors, std::byte* out)
      : contraction_(contraction), rows_(contraction.rows.nest, tensors),
        columns_(contraction.columns.nest, tensors), out_(out),
        rowCount_(size_t(contraction.rows.count.number)),
        depth_(size_t(countOf(contraction.extents, contraction.summed))),
        round_(castKernel(Element::Float64, contraction.element)),
        at_(rowCount_, depth_,
            contraction.columns.runsAlongSum ? 1 : contraction.columns.nest.stripLength) {}

  /// Computes columns first .. first + count - 1, which are one strip, or one column.
  void run(int64_t batch, int64_t first, size_t count) {
    if (batch != batch_)
      evaluateRows(batch);
    const Contraction::Side& side = contraction_.columns;
    setIndices(columns_, contraction_.batch, batch);
    setIndices(columns_, side.axes, first);
    bool alongColumns = !side.runsAlongSum;
    if (alongColumns)
      columns_.setStrip(side.axes.back(), first % extentOf(side.axes.back()), count);
    runOuter(columns_, side);
    std::fill_n(at_.totals, rowCount_ * count, 0.0);
    std::fill_n(at_.sums, rowCount_ * count, 0.0f);
    walk(columns_, side, [&](size_t k, size_t length) {
      auto* strip = reinterpret_cast<const float*>(columns_.registerAt(side.root));
      for (size_t row = 0; row < rowCount_; ++row) {
        const float* factors = at_.values + row * depth_ + k;
        if (alongColumns)
          loops_.addStrip(at_.sums + row * count, strip, *factors, count);
        else
          at_.totals[row] += loops_.sumOfProducts(strip, factors, length);
      }
      if (alongColumns && ((k + 1) % blockDepth == 0 || k + 1 == depth_))
        for (size_t j = 0; j < rowCount_ * count; ++j)
          at_.totals[j] += std::exchange(at_.sums[j], 0.0f);
    });
    store(first, count);
  }

private:
  int64_t extentOf(uint32_t axis) const { return contraction_.extents[axis].number; }

  void setIndices(StripRunner& runner, const List<uint32_t>& axes, int64_t flat) {
    for (size_t i = axes.size(); i-- > 0; flat /= extentOf(axes[i]))
      runner.setIndex(axes[i], flat % extentOf(axes[i]));
  }

  void runOuter(StripRunner& runner, const Contraction::Side& side) {
    for (size_t i = 0; i < side.outerBlocks; ++i)
      runner.runBlock(side.nest.chain[i]);
  }

  /// Evaluates a side at all summed positions, in their order, and calls `take` with the first of
  /// each strip and its length; where strips run along columns, with one position at a time.
  void walk(StripRunner& runner, const Contraction::Side& side,
            runtime::FunctionRef<void(size_t, size_t)> take) {
    const List<uint32_t>& summed = contraction_.summed;
    size_t inner = size_t(extentOf(summed.back()));
    size_t most = side.runsAlongSum ? side.nest.stripLength : 1;
    std::span outer = std::span(summed).first(summed.size() - 1);
    for (size_t k = 0; k < depth_; k += inner) {
      int64_t flat = int64_t(k / inner);
      for (size_t i = outer.size(); i-- > 0; flat /= extentOf(outer[i]))
        runner.setIndex(outer[i], flat % extentOf(outer[i]));
      for (size_t i = 0; i < outer.size(); ++i)
        runner.runBlock(side.nest.chain[side.outerBlocks + i]);
      for (size_t at = 0; at < inner; at += most) {
        size_t length = std::min(most, inner - at);
        if (side.runsAlongSum)
          runner.setStrip(summed.back(), int64_t(at), length);
        else
          runner.setIndex(summed.back(), int64_t(at));
        runner.runBlock(side.nest.chain.back());
        take(k + at, length);
      }
    }
  }

  void evaluateRows(int64_t batch) {
    batch_ = batch;
    const Contraction::Side& side = contraction_.rows;
    setIndices(rows_, contraction_.batch, batch);
    for (size_t row = 0; row < rowCount_; ++row) {
      setIndices(rows_, side.axes, int64_t(row));
      runOuter(rows_, side);
      walk(rows_, side, [&](size_t k, size_t length) {
        std::memcpy(at_.values + row * depth_ + k, rows_.registerAt(side.root),
                    length * sizeof(float));
      });
    }
  }

  int64_t offsetOf(const List<uint32_t>& axes, int64_t flat) const {
    int64_t offset = 0;
    for (size_t i = axes.size(); i-- > 0; flat /= extentOf(axes[i]))
      offset += flat % extentOf(axes[i]) * contraction_.store.coefficient(axes[i]).number;
    return offset;
  }

  /// Rounds the totals, once, and puts them into the result.
  void store(int64_t first, size_t count) {
    const List<uint32_t>& axes = contraction_.columns.axes;
    int64_t stride = count == 1 ? 1 : contraction_.store.coefficient(axes.back()).number;
    if (stride != 1) {
      for (size_t j = 0; j < count; ++j)
        at_.offsets[j] = int64_t(j) * stride;
    }
    Element element = contraction_.element;
    auto size = int64_t(elementBytes(element));
    int64_t base = contraction_.store.constant.number + offsetOf(contraction_.batch, batch_) +
                   offsetOf(axes, first);
    for (size_t row = 0; row < rowCount_; ++row) {
      std::byte* to = out_ + (base + offsetOf(contraction_.rows.axes, int64_t(row))) * size;
      auto* totals = reinterpret_cast<const std::byte*>(at_.totals + row * count);
      if (stride == 1) {
        round_(to, &totals, count);
        continue;
      }
      auto* rounded = reinterpret_cast<std::byte*>(at_.rounded);
      round_(rounded, &totals, count);
      placeKernel(element)(to, at_.offsets, rounded, count);
    }
  }

  static int64_t countOf(const List<Size>& extents, const List<uint32_t>& axes) {
    int64_t count = 1;
    for (uint32_t axis : axes)
      count *= extents[axis].number;
    return count;
  }

  const Contraction& contraction_;
  StripRunner rows_, columns_;
  std::byte* out_;
  size_t rowCount_, depth_;
  RowLoops loops_ = rowLoops();
  ApplyKernel round_;
  int64_t batch_ = -1;
  Buffers at_;
};

} // namespace

void runFewRows(const Contraction& contraction, const std::byte* const* tensors, std::byte* out,
                int64_t batches, unsigned threads) {
  const Contraction::Side& side = contraction.columns;
  int64_t columns = side.count.number, line = 1, most = 1;
  if (!side.runsAlongSum) {
    line = contraction.extents[side.axes.back()].number;
    most = int64_t(side.nest.stripLength);
  }
  int64_t strips = (line + most - 1) / most, units = columns / line * strips;
  runtime::runParts(batches * units, 1, threads, [&](int64_t begin, int64_t end) {
    RowContractor contractor(contraction, tensors, out);
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t inLine = unit % strips * most;
      int64_t first = unit % units / strips * line + inLine;
      contractor.run(unit / units, first, size_t(std::min(most, line - inLine)));
    }
    return std::optional<runtime::Fault>();
  });
}

} // namespace lower
