// Contractions as blocked matrix products.
//
// A block of the result is made from two panels: slivers of a few rows or columns, each sliver
// contiguous over the summed positions. Packing a panel evaluates its side with strips, so padding,
// strides and conversions cost nothing in the inner loop. Products of 16-bit floats are not rounded
// before they are added.
#include "lower/strips/tensor_eval_contract.h"

#include "lower/elements/made_small.h"
#include "lower/elements/products.h"
#include "lower/strips/tensor_eval_rows.h"
#include "lower/strips/tensor_eval_strip.h"
#include "runtime/parts.h"

#include <algorithm>
#include <cstring>

namespace lower {

namespace {

int64_t product(const List<Size>& extents, const List<uint32_t>& axes) {
  int64_t count = 1;
  for (uint32_t axis : axes)
    count *= extents[axis].number;
  return count;
}

/// Evaluates one side of a contraction into panels of slivers of `width`.
class Packer {
public:
  Packer(const Contraction& contraction, const Contraction::Side& side,
         const std::byte* const* tensors, size_t width)
      : contraction_(contraction), side_(side), runner_(side.nest, tensors), width_(width),
        size_(elementBytes(side.nest.graph.values[side.root].element)) {}

  /// Packs rows (or columns) first .. first+count-1 for summed positions from .. from+depth-1.
  void pack(int64_t batch, int64_t first, size_t count, int64_t from, size_t depth,
            Pooled<std::byte>& panel) {
    size_t sliverBytes = width_ * depth * size_;
    panel.resize((count + width_ - 1) / width_ * sliverBytes);
    if (count % width_ != 0)
      std::fill(panel.end() - ptrdiff_t(sliverBytes), panel.end(), std::byte(0));
    setIndices(contraction_.batch, batch);
    uint32_t lane = side_.axes.back();
    int64_t laneExtent = contraction_.extents[lane].number;
    auto outer = std::span(side_.axes).first(side_.axes.size() - 1);
    for (size_t done = 0; done < count;) {
      int64_t position = first + int64_t(done), start = position % laneExtent;
      size_t run = std::min({size_t(laneExtent - start), count - done, side_.nest.stripLength});
      setIndices(outer, position / laneExtent);
      runner_.setStrip(lane, start, run);
      for (size_t depthOfChain = 0; depthOfChain < side_.outerBlocks; ++depthOfChain)
        runner_.runBlock(side_.nest.chain[depthOfChain]);
      packSummed(done, run, from, depth, panel.data());
      done += run;
    }
  }

private:
  int64_t extentOf(uint32_t axis) const { return contraction_.extents[axis].number; }

  void setIndices(std::span<const uint32_t> axes, int64_t flat) {
    for (size_t i = axes.size(); i-- > 0;) {
      runner_.setIndex(axes[i], flat % extentOf(axes[i]));
      flat /= extentOf(axes[i]);
    }
  }

  /// One strip for every summed position.
  void packSummed(size_t column, size_t run, int64_t from, size_t depth, std::byte* panel) {
    PackKernel packed = packKernel(size_);
    const auto& summed = contraction_.summed;
    Pooled<int64_t>& at = position_;
    at.resize(summed.size());
    for (size_t i = summed.size(); i-- > 0;) {
      at[i] = from % extentOf(summed[i]);
      from /= extentOf(summed[i]);
      runner_.setIndex(summed[i], at[i]);
    }
    size_t changed = 0;
    for (size_t k = 0; k < depth; ++k) {
      for (size_t i = changed; i < summed.size(); ++i)
        runner_.runBlock(side_.nest.chain[side_.outerBlocks + i]);
      packed(runner_.registerAt(side_.root), column, run, width_, depth, k, panel);
      for (changed = summed.size(); changed-- > 0;) {
        at[changed] = at[changed] + 1 < extentOf(summed[changed]) ? at[changed] + 1 : 0;
        runner_.setIndex(summed[changed], at[changed]);
        if (at[changed] != 0 || changed == 0)
          break;
      }
    }
  }

  const Contraction& contraction_;
  const Contraction::Side& side_;
  StripRunner runner_;
  size_t width_, size_;
  Pooled<int64_t> position_;
};

/// How the result is cut: blocks of rows and columns, and the summed positions in pieces.
struct Blocking {
  int64_t batch, rowBlocks, columnBlocks;
  size_t rows, columns, depth;
  int64_t summed;
};

size_t roundUp(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

Blocking chooseBlocking(const Contraction& contraction, size_t width) {
  constexpr size_t mostRows = 504, mostColumns = 512, mostDepth = 4096, panelElements = 1 << 17;
  Blocking blocking{};
  blocking.batch = product(contraction.extents, contraction.batch);
  blocking.summed = product(contraction.extents, contraction.summed);
  blocking.depth = size_t(std::min<int64_t>(blocking.summed, mostDepth));
  int64_t rows = contraction.rows.count.number, columns = contraction.columns.count.number;
  blocking.rows = size_t(std::min<int64_t>(rows, mostRows));
  size_t most = std::clamp(panelElements / blocking.depth, size_t(32), mostColumns);
  blocking.columns = std::min(roundUp(most, width), size_t(columns));
  blocking.rowBlocks = (rows + int64_t(blocking.rows) - 1) / int64_t(blocking.rows);
  blocking.columnBlocks = (columns + int64_t(blocking.columns) - 1) / int64_t(blocking.columns);
  return blocking;
}

class Contractor {
public:
  Contractor(const Contraction& contraction, const Blocking& blocking, const TileLoop& loop,
             const std::byte* const* tensors, std::byte* out)
      : contraction_(contraction), blocking_(blocking), loop_(loop),
        rows_(contraction, contraction.rows, tensors, tileRows),
        columns_(contraction, contraction.columns, tensors, loop.width), out_(out) {}

  /// Computes one block of the result.
  void run(int64_t block) {
    int64_t columnBlock = block % blocking_.columnBlocks;
    int64_t rowBlock = block / blocking_.columnBlocks % blocking_.rowBlocks;
    int64_t batch = block / blocking_.columnBlocks / blocking_.rowBlocks;
    int64_t firstRow = rowBlock * int64_t(blocking_.rows);
    int64_t firstColumn = columnBlock * int64_t(blocking_.columns);
    size_t rows =
        size_t(std::min(int64_t(blocking_.rows), contraction_.rows.count.number - firstRow));
    size_t columns = size_t(
        std::min(int64_t(blocking_.columns), contraction_.columns.count.number - firstColumn));
    sums_.assign(roundUp(rows, tileRows) * roundUp(columns, loop_.width) *
                     elementBytes(loop_.total),
                 std::byte(0));
    for (int64_t from = 0; from < blocking_.summed; from += int64_t(blocking_.depth)) {
      size_t depth = size_t(std::min(int64_t(blocking_.depth), blocking_.summed - from));
      packRows(batch, firstRow, rows, from, depth);
      columns_.pack(batch, firstColumn, columns, from, depth, columnPanel_);
      multiply(rows, columns, depth);
    }
    store(batch, firstRow, rows, firstColumn, columns);
  }

private:
  /// Neighbouring blocks share their rows.
  void packRows(int64_t batch, int64_t first, size_t count, int64_t from, size_t depth) {
    auto key = std::tuple(batch, first, from);
    if (key == packed_)
      return;
    rows_.pack(batch, first, count, from, depth, rowPanel_);
    packed_ = key;
  }

  size_t tileBytes() const { return tileRows * loop_.width * elementBytes(loop_.total); }

  void multiply(size_t rows, size_t columns, size_t depth) {
    size_t rowTiles = roundUp(rows, tileRows) / tileRows,
           columnTiles = roundUp(columns, loop_.width) / loop_.width;
    size_t rowBytes = depth * tileRows * loop_.panelBytes,
           columnBytes = depth * loop_.width * loop_.panelBytes;
    for (size_t j = 0; j < columnTiles; ++j)
      for (size_t i = 0; i < rowTiles; ++i)
        loop_.add(rowPanel_.data() + i * rowBytes, columnPanel_.data() + j * columnBytes, depth,
                  sums_.data() + (j * rowTiles + i) * tileBytes());
  }

  /// The positions in the result of a side's elements, relative to the batch.
  void offsetsOf(const Contraction::Side& side, int64_t first, size_t count,
                 Pooled<int64_t>& offsets) const {
    offsets.assign(count, 0);
    for (size_t j = 0; j < count; ++j)
      offsets[j] = offsetOf(side.axes, first + int64_t(j));
  }

  int64_t offsetOf(const List<uint32_t>& axes, int64_t flat) const {
    int64_t offset = 0;
    for (size_t i = axes.size(); i-- > 0; flat /= contraction_.extents[axes[i]].number)
      offset += flat % contraction_.extents[axes[i]].number *
                contraction_.store.coefficient(axes[i]).number;
    return offset;
  }

  void store(int64_t batch, int64_t firstRow, size_t rows, int64_t firstColumn, size_t columns) {
    offsetsOf(contraction_.rows, firstRow, rows, rowOffsets_);
    offsetsOf(contraction_.columns, firstColumn, columns, columnOffsets_);
    int64_t base = contraction_.store.constant.number + offsetOf(contraction_.batch, batch);
    const std::byte* sums = sums_.data();
    for (size_t j = 0; j < columns; j += loop_.width) {
      auto offsets = std::span(columnOffsets_).subspan(j, std::min(loop_.width, columns - j));
      for (size_t i = 0; i < rows; i += tileRows, sums += tileBytes())
        storeTile(sums, base, std::span(rowOffsets_).subspan(i, std::min(tileRows, rows - i)),
                  offsets);
    }
  }

  /// Rounds the totals of one tile, once, and puts them into the result.
  void storeTile(const std::byte* sums, int64_t base, std::span<const int64_t> rows,
                 std::span<const int64_t> columns) {
    alignas(mostRegisterBytes) std::byte rounded[mostTileBytes];
    size_t size = elementBytes(contraction_.element);
    if (size != elementBytes(loop_.total)) {
      castKernel(loop_.total, contraction_.element)(rounded, &sums, tileRows * loop_.width);
      sums = rounded;
    }
    bool isDense = std::ranges::adjacent_find(
                       columns, [](int64_t a, int64_t b) { return b != a + 1; }) == columns.end();
    for (size_t i = 0; i < rows.size(); ++i, sums += loop_.width * size) {
      std::byte* to = out_ + (base + rows[i]) * int64_t(size);
      if (isDense)
        std::memcpy(to + columns[0] * int64_t(size), sums, columns.size() * size);
      else
        placeKernel(contraction_.element)(to, columns.data(), sums, columns.size());
    }
  }

  const Contraction& contraction_;
  const Blocking& blocking_;
  const TileLoop& loop_;
  Packer rows_;
  Packer columns_;
  std::byte* out_;
  Pooled<std::byte> rowPanel_, columnPanel_, sums_;
  Pooled<int64_t> rowOffsets_, columnOffsets_;
  std::tuple<int64_t, int64_t, int64_t> packed_{-1, -1, -1};
};

} // namespace

double contractionCost(const Contraction& contraction) {
  constexpr double nanosecondsOfProduct = 0.15;
  return nanosecondsOfProduct * double(contraction.rows.count.number) *
         double(contraction.columns.count.number) *
         double(product(contraction.extents, contraction.summed)) *
         double(product(contraction.extents, contraction.batch));
}

void runContraction(const Contraction& contraction, const std::byte* const* tensors,
                    std::byte* out) {
  if (!isMadeSmall && contraction.hasFewRows)
    return runFewRows(contraction, tensors, out, product(contraction.extents, contraction.batch),
                      runtime::threadsFor(contractionCost(contraction)));
  TileLoop loop = tileLoopFor(panelElement(contraction.element));
  Blocking blocking = chooseBlocking(contraction, loop.width);
  int64_t blocks = blocking.batch * blocking.rowBlocks * blocking.columnBlocks;
  auto part = [&](int64_t first, int64_t last) {
    Contractor contractor(contraction, blocking, loop, tensors, out);
    for (int64_t block = first; block < last; ++block)
      contractor.run(block);
    return std::optional<runtime::Fault>();
  };
  runtime::runParts(blocks, 1, runtime::threadsFor(contractionCost(contraction)), part);
}

} // namespace lower
