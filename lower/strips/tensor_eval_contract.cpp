// Contractions as blocked matrix products.
//
// A block of the result is made from two panels: slivers of a few rows or columns, each sliver
// contiguous over the summed positions. Packing a panel evaluates its side with strips, so padding,
// strides and conversions cost nothing in the inner loop. Products of 16-bit floats are not rounded
// before they are added.
//
// Floats of at most 32 bits are added in float32 in blocks of `blockDepth` summed positions, in
// their order, and so are the blocks of a piece of `pieceDepth` positions; pieces are added in
// float64. So the error of a sum is bounded whatever its length, and a result does not depend on
// how many rows and columns there are beside it, unless they are few, nor on the processor: with
// wide registers more columns are done at once, each as it would be with narrow ones, and products
// are rounded before they are added everywhere.
#include "lower/strips/tensor_eval_contract.h"

#include "lower/elements/made_small.h"
#include "lower/elements/wide_registers.h"
#include "lower/strips/tensor_eval_rows.h"
#include "lower/strips/tensor_eval_strip.h"
#include "runtime/parts.h"

#include <algorithm>
#include <cstring>

namespace lower {

namespace {

constexpr size_t tileRows = 6;
constexpr size_t blockDepth = 32, pieceDepth = 512;

/// The bytes of a register that the processor computes with.
constexpr size_t narrowBytes = 16, wideBytes = 32;

template <typename A, size_t bytes>
struct Vector {
  typedef A type __attribute__((vector_size(bytes)));
};

template <typename A, size_t bytes>
constexpr size_t tileColumns = 2 * bytes / sizeof(A);

/// tile += rows * columns over `depth` summed positions; slivers as in the file comment. Inlined
/// into functions for one kind of processor each.
template <typename A, size_t bytes>
inline __attribute__((always_inline)) void multiplyTile(const A* rows, const A* columns,
                                                        size_t depth, A* tile) {
  using V = typename Vector<A, bytes>::type;
  constexpr size_t lanes = bytes / sizeof(A);
  V sums[tileRows][2] = {};
  for (size_t k = 0; k < depth; ++k) {
    V first, second;
    std::memcpy(&first, columns + k * 2 * lanes, bytes);
    std::memcpy(&second, columns + k * 2 * lanes + lanes, bytes);
    for (size_t i = 0; i < tileRows; ++i) {
      V factor = V{} + rows[k * tileRows + i];
      sums[i][0] += factor * first;
      sums[i][1] += factor * second;
    }
  }
  for (size_t i = 0; i < tileRows; ++i)
    for (size_t half = 0; half < 2; ++half) {
      V before;
      std::memcpy(&before, tile + (2 * i + half) * lanes, bytes);
      before += sums[i][half];
      std::memcpy(tile + (2 * i + half) * lanes, &before, bytes);
    }
}

/// What blocks of `A` are added up in.
template <typename A>
using Total = std::conditional_t<std::is_same_v<A, float>, double, A>;

int64_t product(const List<Size>& extents, const List<uint32_t>& axes) {
  int64_t count = 1;
  for (uint32_t axis : axes)
    count *= extents[axis].number;
  return count;
}

/// Puts the elements of a strip at summed position `k` into a panel of `depth` such positions; the
/// first belongs into row or column `first`.
template <typename Bits>
void packStrip(const std::byte* strip, size_t first, size_t count, size_t width, size_t depth,
               size_t k, std::byte* panel) {
  auto* from = reinterpret_cast<const Bits*>(strip);
  auto* sliver = reinterpret_cast<Bits*>(panel) + (first / width * depth + k) * width;
  size_t inside = first % width;
  for (size_t j = 0; j < count; sliver += depth * width, inside = 0) {
    size_t piece = std::min(width - inside, count - j);
    for (size_t i = 0; i < piece; ++i)
      sliver[inside + i] = from[j + i];
    j += piece;
  }
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
    auto packed = size_ == 4 ? packStrip<uint32_t> : packStrip<uint64_t>;
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

/// totals += rows * columns for one tile, over all summed positions of the panels.
template <typename A, size_t bytes>
inline __attribute__((always_inline)) void addPieces(const std::byte* rowSliver,
                                                     const std::byte* columnSliver, size_t depth,
                                                     std::byte* totalBytes) {
  constexpr size_t width = tileColumns<A, bytes>;
  auto* rows = reinterpret_cast<const A*>(rowSliver);
  auto* columns = reinterpret_cast<const A*>(columnSliver);
  auto* totals = reinterpret_cast<Total<A>*>(totalBytes);
  for (size_t piece = 0; piece < depth; piece += pieceDepth) {
    A tile[tileRows * width] = {};
    size_t end = std::min(piece + pieceDepth, depth);
    for (size_t k = piece; k < end; k += blockDepth)
      multiplyTile<A, bytes>(rows + k * tileRows, columns + k * width,
                             std::min(blockDepth, end - k), tile);
    for (size_t n = 0; n < tileRows * width; ++n)
      totals[n] += tile[n];
  }
}

template <typename A>
BATON_WIDE void addWideTile(const std::byte* rows, const std::byte* columns, size_t depth,
                            std::byte* totals) {
  addPieces<A, wideBytes>(rows, columns, depth, totals);
}

template <typename A>
void addNarrowTile(const std::byte* rows, const std::byte* columns, size_t depth,
                   std::byte* totals) {
  addPieces<A, narrowBytes>(rows, columns, depth, totals);
}

/// All that hangs on the type of the panels and on the processor.
struct TileLoop {
  size_t width;
  size_t panelBytes;
  Element total;
  void (*add)(const std::byte* rows, const std::byte* columns, size_t depth, std::byte* totals);
};

template <typename A>
TileLoop tileLoopOf(Element total) {
  return hasWideRegisters()
             ? TileLoop{tileColumns<A, wideBytes>, sizeof(A), total, addWideTile<A>}
             : TileLoop{tileColumns<A, narrowBytes>, sizeof(A), total, addNarrowTile<A>};
}

/// Whole numbers are added up as unsigned ones, which wrap alike.
TileLoop tileLoopFor(Element panel) {
  switch (panel) {
  case Element::Float32:
    return tileLoopOf<float>(Element::Float64);
  case Element::Float64:
    return tileLoopOf<double>(Element::Float64);
  case Element::Int64:
    return tileLoopOf<uint64_t>(Element::Int64);
  default:
    return tileLoopOf<uint32_t>(Element::Int32);
  }
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
    constexpr size_t mostBytes = tileRows * tileColumns<float, wideBytes> * sizeof(double);
    alignas(wideBytes) std::byte rounded[mostBytes];
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

Element panelElement(Element element) {
  if (isFloat(element))
    return element == Element::Float64 ? element : Element::Float32;
  return elementBytes(element) == 8 ? Element::Int64 : Element::Int32;
}

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
