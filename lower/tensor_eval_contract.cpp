// Contractions as blocked matrix products.
//
// A block of the result is made from two panels: slivers of a few rows or columns, each sliver
// contiguous over the summed positions. Packing a panel evaluates its side with strips, so padding,
// strides and conversions cost nothing in the inner loop. Products of 16-bit floats are not rounded
// before they are added.
//
// Floats of at most 32 bits are added in float32 in blocks of `blockDepth` summed positions, in
// their order, and so are the blocks of a piece of `pieceDepth` positions; pieces are added in
// float64. So the error of a sum is bounded whatever its length, and
// a result does not depend on how many rows and columns there are beside it, nor on the processor:
// with wide registers more columns are done at once, each as it would be with narrow ones, and
// products are rounded before they are added everywhere.
#include "lower/tensor_eval_contract.h"

#include "lower/tensor_eval_parallel.h"
#include "lower/tensor_eval_strip.h"

#include <algorithm>
#include <cstring>

namespace lower {

namespace {

constexpr size_t tileRows = 6;
constexpr size_t blockDepth = 32, pieceDepth = 512;

/// The bytes of a register that the processor computes with.
constexpr size_t narrowBytes = 16, wideBytes = 32;

#if defined(__x86_64__)
#define BATON_WIDE __attribute__((target("avx2")))
bool hasWideRegisters() {
  return __builtin_cpu_supports("avx2");
}
#else
#define BATON_WIDE
bool hasWideRegisters() {
  return false;
}
#endif

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

/// Sums of `T` are kept in `A`: integers in unsigned ones of enough bits, which wrap alike.
template <typename T>
using Sum = std::conditional_t<std::is_floating_point_v<Compute<T>>, Compute<T>,
                               std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

/// What blocks of `A` are added up in.
template <typename A>
using Total = std::conditional_t<std::is_same_v<A, float>, double, A>;

/// A total as an element, rounded once.
template <typename T>
T elementFrom(const Total<Sum<T>>& total) {
  if constexpr (std::is_same_v<T, runtime::Half> || std::is_same_v<T, runtime::BHalf>)
    return T(runtime::floatRoundedToOdd(total));
  else
    return narrow<T>(Compute<T>(total));
}

template <typename T, size_t width>
void packStrip(const std::byte* strip, size_t first, size_t count, size_t depth, size_t k,
               Sum<T>* panel) {
  auto* from = reinterpret_cast<const T*>(strip);
  for (size_t j = 0; j < count;) {
    size_t column = first + j, inside = column % width;
    size_t piece = std::min(width - inside, count - j);
    Sum<T>* to = panel + column / width * depth * width + k * width + inside;
    for (size_t i = 0; i < piece; ++i)
      to[i] = Sum<T>(widen(from[j + i]));
    j += piece;
  }
}

int64_t product(const std::vector<int64_t>& extents, const std::vector<uint32_t>& axes) {
  int64_t count = 1;
  for (uint32_t axis : axes)
    count *= extents[axis];
  return count;
}

/// Evaluates one side of a contraction into panels of slivers of `width`.
template <typename T, size_t width>
class Packer {
public:
  Packer(const Contraction& contraction, const Contraction::Side& side,
         const std::byte* const* tensors)
      : contraction_(contraction), side_(side), runner_(side.nest, tensors) {}

  /// Packs rows (or columns) first .. first+count-1 for summed positions from .. from+depth-1.
  void pack(int64_t batch, int64_t first, size_t count, int64_t from, size_t depth,
            Pooled<Sum<T>>& panel) {
    panel.resize((count + width - 1) / width * width * depth);
    if (count % width != 0)
      std::fill(panel.end() - ptrdiff_t(width * depth), panel.end(), Sum<T>(0));
    setIndices(contraction_.batch, batch);
    uint32_t lane = side_.axes.back();
    int64_t laneExtent = contraction_.extents[lane];
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
  void setIndices(std::span<const uint32_t> axes, int64_t flat) {
    for (size_t i = axes.size(); i-- > 0;) {
      runner_.setIndex(axes[i], flat % contraction_.extents[axes[i]]);
      flat /= contraction_.extents[axes[i]];
    }
  }

  /// One strip for every summed position.
  void packSummed(size_t column, size_t run, int64_t from, size_t depth, Sum<T>* panel) {
    const auto& summed = contraction_.summed;
    Pooled<int64_t>& at = position_;
    at.resize(summed.size());
    for (size_t i = summed.size(); i-- > 0;) {
      at[i] = from % contraction_.extents[summed[i]];
      from /= contraction_.extents[summed[i]];
      runner_.setIndex(summed[i], at[i]);
    }
    size_t changed = 0;
    for (size_t k = 0; k < depth; ++k) {
      for (size_t i = changed; i < summed.size(); ++i)
        runner_.runBlock(side_.nest.chain[side_.outerBlocks + i]);
      packStrip<T, width>(runner_.registerAt(side_.root), column, run, depth, k, panel);
      for (changed = summed.size(); changed-- > 0;) {
        at[changed] = at[changed] + 1 < contraction_.extents[summed[changed]] ? at[changed] + 1 : 0;
        runner_.setIndex(summed[changed], at[changed]);
        if (at[changed] != 0 || changed == 0)
          break;
      }
    }
  }

  const Contraction& contraction_;
  const Contraction::Side& side_;
  StripRunner runner_;
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
  int64_t rows = contraction.rows.count, columns = contraction.columns.count;
  blocking.rows = size_t(std::min<int64_t>(rows, mostRows));
  size_t most = std::clamp(panelElements / blocking.depth, size_t(32), mostColumns);
  blocking.columns = std::min(roundUp(most, width), size_t(columns));
  blocking.rowBlocks = (rows + int64_t(blocking.rows) - 1) / int64_t(blocking.rows);
  blocking.columnBlocks = (columns + int64_t(blocking.columns) - 1) / int64_t(blocking.columns);
  return blocking;
}

/// totals += rows * columns for one tile, over all summed positions of the panels.
template <typename A, size_t bytes>
inline __attribute__((always_inline)) void addPieces(const A* rows, const A* columns, size_t depth,
                                                     Total<A>* totals) {
  constexpr size_t width = tileColumns<A, bytes>;
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
BATON_WIDE void addWideTile(const A* rows, const A* columns, size_t depth, Total<A>* totals) {
  addPieces<A, wideBytes>(rows, columns, depth, totals);
}

template <typename A>
void addNarrowTile(const A* rows, const A* columns, size_t depth, Total<A>* totals) {
  addPieces<A, narrowBytes>(rows, columns, depth, totals);
}

template <typename T, size_t bytes>
class Contractor {
public:
  using A = Sum<T>;
  static constexpr size_t width = tileColumns<A, bytes>;

  Contractor(const Contraction& contraction, const Blocking& blocking,
             const std::byte* const* tensors, std::byte* out)
      : contraction_(contraction), blocking_(blocking),
        rows_(contraction, contraction.rows, tensors),
        columns_(contraction, contraction.columns, tensors), out_(reinterpret_cast<T*>(out)) {}

  /// Computes one block of the result.
  void run(int64_t block) {
    int64_t columnBlock = block % blocking_.columnBlocks;
    int64_t rowBlock = block / blocking_.columnBlocks % blocking_.rowBlocks;
    int64_t batch = block / blocking_.columnBlocks / blocking_.rowBlocks;
    int64_t firstRow = rowBlock * int64_t(blocking_.rows);
    int64_t firstColumn = columnBlock * int64_t(blocking_.columns);
    size_t rows = size_t(std::min(int64_t(blocking_.rows), contraction_.rows.count - firstRow));
    size_t columns =
        size_t(std::min(int64_t(blocking_.columns), contraction_.columns.count - firstColumn));
    sums_.assign(roundUp(rows, tileRows) * roundUp(columns, width), Total<A>(0));
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

  void multiply(size_t rows, size_t columns, size_t depth) {
    size_t rowTiles = roundUp(rows, tileRows) / tileRows,
           columnTiles = roundUp(columns, width) / width;
    for (size_t j = 0; j < columnTiles; ++j)
      for (size_t i = 0; i < rowTiles; ++i)
        addTile(rowPanel_.data() + i * depth * tileRows, columnPanel_.data() + j * depth * width,
                depth, sums_.data() + (j * rowTiles + i) * tileRows * width);
  }

  static void addTile(const A* rows, const A* columns, size_t depth, Total<A>* totals) {
    if constexpr (bytes == wideBytes)
      addWideTile<A>(rows, columns, depth, totals);
    else
      addNarrowTile<A>(rows, columns, depth, totals);
  }

  /// The positions in the result of a side's elements, relative to the batch.
  void offsetsOf(const Contraction::Side& side, int64_t first, size_t count,
                 Pooled<int64_t>& offsets) const {
    offsets.assign(count, 0);
    for (size_t j = 0; j < count; ++j)
      offsets[j] = offsetOf(side.axes, first + int64_t(j));
  }

  int64_t offsetOf(const std::vector<uint32_t>& axes, int64_t flat) const {
    int64_t offset = 0;
    for (size_t i = axes.size(); i-- > 0; flat /= contraction_.extents[axes[i]])
      offset += flat % contraction_.extents[axes[i]] * contraction_.store.coefficient(axes[i]);
    return offset;
  }

  void store(int64_t batch, int64_t firstRow, size_t rows, int64_t firstColumn, size_t columns) {
    offsetsOf(contraction_.rows, firstRow, rows, rowOffsets_);
    offsetsOf(contraction_.columns, firstColumn, columns, columnOffsets_);
    T* base = out_ + contraction_.store.constant + offsetOf(contraction_.batch, batch);
    size_t rowTiles = roundUp(rows, tileRows) / tileRows;
    for (size_t j = 0; j < columns; j += width) {
      auto offsets = std::span(columnOffsets_).subspan(j, std::min(width, columns - j));
      bool isDense = isRun(offsets);
      for (size_t i = 0; i < rows; ++i) {
        size_t tile = j / width * rowTiles + i / tileRows;
        const Total<A>* sums = &sums_[tile * tileRows * width + i % tileRows * width];
        T* to = base + rowOffsets_[i];
        if (isDense)
          for (size_t k = 0; k < offsets.size(); ++k)
            to[offsets[0] + int64_t(k)] = elementFrom<T>(sums[k]);
        else
          for (size_t k = 0; k < offsets.size(); ++k)
            to[offsets[k]] = elementFrom<T>(sums[k]);
      }
    }
  }

  static bool isRun(std::span<const int64_t> offsets) {
    return std::ranges::adjacent_find(offsets, [](int64_t a, int64_t b) { return b != a + 1; }) ==
           offsets.end();
  }

  const Contraction& contraction_;
  const Blocking& blocking_;
  Packer<T, tileRows> rows_;
  Packer<T, width> columns_;
  T* out_;
  Pooled<A> rowPanel_, columnPanel_;
  Pooled<Total<A>> sums_;
  Pooled<int64_t> rowOffsets_, columnOffsets_;
  std::tuple<int64_t, int64_t, int64_t> packed_{-1, -1, -1};
};

template <typename T, size_t bytes>
void contract(const Contraction& contraction, const std::byte* const* tensors, std::byte* out) {
  Blocking blocking = chooseBlocking(contraction, tileColumns<Sum<T>, bytes>);
  int64_t blocks = blocking.batch * blocking.rowBlocks * blocking.columnBlocks;
  auto part = [&](int64_t first, int64_t last) {
    Contractor<T, bytes> contractor(contraction, blocking, tensors, out);
    for (int64_t block = first; block < last; ++block)
      contractor.run(block);
    return std::optional<runtime::Fault>();
  };
  runParts(blocks, 1, threadsFor(contractionCost(contraction)), std::ref(part));
}

} // namespace

double contractionCost(const Contraction& contraction) {
  constexpr double nanosecondsOfProduct = 0.15;
  return nanosecondsOfProduct * double(contraction.rows.count) * double(contraction.columns.count) *
         double(product(contraction.extents, contraction.summed)) *
         double(product(contraction.extents, contraction.batch));
}

void runContraction(const Contraction& contraction, const std::byte* const* tensors,
                    std::byte* out) {
  withOwnElement(contraction.element, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, Bit>) {
      static const bool isWide = hasWideRegisters();
      if (isWide)
        contract<T, wideBytes>(contraction, tensors, out);
      else
        contract<T, narrowBytes>(contraction, tensors, out);
    }
  });
}

} // namespace lower
