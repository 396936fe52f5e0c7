// Contractions: blocked products of packed panels, or of few rows with strips where they lie.
//
// Packing a panel evaluates a factor by its code, so padding, strides and conversions cost nothing
// in the inner loop. How products are added up stands in lower/elements/products.cpp; it depends
// neither on the threads nor on the processor.
#include "codegen/strips/run_contract.h"

#include "lower/elements/made_small.h"
#include "runtime/parts.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace strips {

namespace {

using lower::elementBytes;

constexpr double nanosecondsOfProduct = 0.15;

size_t roundUp(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Evaluates one factor into panels of slivers of `width`.
class Packer {
public:
  Packer(Evaluator& evaluator, const Side& side, size_t width)
      : evaluator_(evaluator), side_(side), width_(width),
        size_(elementBytes(evaluator.contraction().panel)) {}

  /// Packs rows (or columns) first .. first+count-1 for summed positions from .. from+depth-1.
  void pack(int64_t first, size_t count, int64_t from, size_t depth, Pooled<std::byte>& panel) {
    size_t sliverBytes = width_ * depth * size_;
    panel.resize((count + width_ - 1) / width_ * sliverBytes);
    if (count % width_ != 0)
      std::fill(panel.end() - ptrdiff_t(sliverBytes), panel.end(), std::byte(0));
    if (side_.runsAlongSum)
      return packAlongSum(first, count, from, depth, panel.data());
    for (size_t done = 0; done < count;) {
      size_t run = evaluator_.setStrip(side_, first + int64_t(done), count - done);
      lower::PackKernel packed = lower::packKernel(size_);
      evaluator_.setSummed(from);
      for (size_t k = 0; k < depth; ++k, evaluator_.nextSummed()) {
        packed(evaluator_.strip(side_), done, run, width_, depth, k, panel.data());
      }
      done += run;
    }
  }

private:
  void packAlongSum(int64_t first, size_t count, int64_t from, size_t depth, std::byte* panel) {
    for (size_t k = 0; k < depth;) {
      size_t run = 0;
      for (size_t j = 0; j < count; ++j) {
        evaluator_.setPosition(side_, first + int64_t(j));
        run = evaluator_.setSummedStrip(side_, from + int64_t(k), depth - k);
        std::byte* to = panel + ((j / width_ * depth + k) * width_ + j % width_) * size_;
        lower::scatterKernel(size_ == 4 ? Element::Float32 : Element::Float64)(
            to, int64_t(width_), evaluator_.strip(side_), run);
      }
      k += run;
    }
  }

  Evaluator& evaluator_;
  const Side& side_;
  size_t width_, size_;
};

/// How the result is cut: blocks of rows and columns, and the summed positions in pieces.
struct Blocking {
  int64_t batches, rowBlocks, columnBlocks;
  size_t rows, columns, depth;
};

Blocking chooseBlocking(const Extents& extents, size_t width) {
  constexpr size_t mostRows = 504, mostColumns = 512, mostDepth = 4096, panelElements = 1 << 17;
  Blocking blocking{};
  blocking.batches = extents.batches;
  blocking.depth = size_t(std::clamp<int64_t>(extents.summed, 1, mostDepth));
  blocking.rows = size_t(std::min<int64_t>(extents.rows, mostRows));
  size_t most = std::clamp(panelElements / blocking.depth, size_t(32), mostColumns);
  blocking.columns = std::min(roundUp(most, width), size_t(extents.columns));
  blocking.rowBlocks = (extents.rows + int64_t(blocking.rows) - 1) / int64_t(blocking.rows);
  blocking.columnBlocks =
      (extents.columns + int64_t(blocking.columns) - 1) / int64_t(blocking.columns);
  return blocking;
}

class BlockProduct {
public:
  BlockProduct(Evaluator& evaluator, const Extents& extents, const Blocking& blocking,
               const lower::TileLoop& loop)
      : evaluator_(evaluator), extents_(extents), blocking_(blocking), loop_(loop),
        rows_(evaluator, evaluator.contraction().rows, lower::tileRows),
        columns_(evaluator, evaluator.contraction().columns, loop.width) {}

  /// Computes one block of the result.
  void run(int64_t block) {
    int64_t columnBlock = block % blocking_.columnBlocks;
    int64_t rowBlock = block / blocking_.columnBlocks % blocking_.rowBlocks;
    int64_t batch = block / blocking_.columnBlocks / blocking_.rowBlocks;
    int64_t firstRow = rowBlock * int64_t(blocking_.rows);
    int64_t firstColumn = columnBlock * int64_t(blocking_.columns);
    auto rows = size_t(std::min(int64_t(blocking_.rows), extents_.rows - firstRow));
    auto columns = size_t(std::min(int64_t(blocking_.columns), extents_.columns - firstColumn));
    sums_.assign(roundUp(rows, lower::tileRows) * roundUp(columns, loop_.width) *
                     elementBytes(loop_.total),
                 std::byte(0));
    evaluator_.setBatch(batch);
    for (int64_t from = 0; from < extents_.summed; from += int64_t(blocking_.depth)) {
      size_t depth = size_t(std::min(int64_t(blocking_.depth), extents_.summed - from));
      // Neighbouring blocks share their rows.
      if (auto key = std::tuple(batch, firstRow, from); key != packed_) {
        rows_.pack(firstRow, rows, from, depth, rowPanel_);
        packed_ = key;
      }
      columns_.pack(firstColumn, columns, from, depth, columnPanel_);
      multiply(rows, columns, depth);
    }
    store(batch, firstRow, rows, firstColumn, columns);
  }

private:
  size_t tileBytes() const { return lower::tileRows * loop_.width * elementBytes(loop_.total); }

  void multiply(size_t rows, size_t columns, size_t depth) {
    size_t rowTiles = roundUp(rows, lower::tileRows) / lower::tileRows,
           columnTiles = roundUp(columns, loop_.width) / loop_.width;
    size_t rowBytes = depth * lower::tileRows * loop_.panelBytes,
           columnBytes = depth * loop_.width * loop_.panelBytes;
    for (size_t j = 0; j < columnTiles; ++j)
      for (size_t i = 0; i < rowTiles; ++i)
        loop_.add(rowPanel_.data() + i * rowBytes, columnPanel_.data() + j * columnBytes, depth,
                  sums_.data() + (j * rowTiles + i) * tileBytes());
  }

  void store(int64_t batch, int64_t firstRow, size_t rows, int64_t firstColumn, size_t columns) {
    evaluator_.offsetsOf(evaluator_.contraction().rows, firstRow, rows, rowOffsets_);
    evaluator_.offsetsOf(evaluator_.contraction().columns, firstColumn, columns, columnOffsets_);
    int64_t base = evaluator_.offsetOfBatch(batch);
    const std::byte* sums = sums_.data();
    for (size_t j = 0; j < columns; j += loop_.width) {
      auto offsets = std::span(columnOffsets_).subspan(j, std::min(loop_.width, columns - j));
      for (size_t i = 0; i < rows; i += lower::tileRows, sums += tileBytes())
        storeTile(sums, base,
                  std::span(rowOffsets_).subspan(i, std::min(lower::tileRows, rows - i)), offsets);
    }
  }

  /// Rounds the totals of one tile, once, and puts them into the result.
  void storeTile(const std::byte* sums, int64_t base, std::span<const int64_t> rows,
                 std::span<const int64_t> columns) {
    alignas(lower::mostRegisterBytes) std::byte rounded[lower::mostTileBytes];
    size_t size = elementBytes(evaluator_.contraction().element);
    if (size != elementBytes(loop_.total)) {
      lower::castKernel(loop_.total, evaluator_.contraction().element)(
          rounded, &sums, lower::tileRows * loop_.width);
      sums = rounded;
    }
    bool isDense = std::ranges::adjacent_find(
                       columns, [](int64_t a, int64_t b) { return b != a + 1; }) == columns.end();
    for (size_t i = 0; i < rows.size(); ++i, sums += loop_.width * size) {
      std::byte* to = evaluator_.result() + (base + rows[i]) * int64_t(size);
      if (isDense)
        std::memcpy(to + columns[0] * int64_t(size), sums, columns.size() * size);
      else
        lower::placeKernel(evaluator_.contraction().element)(to, columns.data(), sums,
                                                             columns.size());
    }
  }

  Evaluator& evaluator_;
  const Extents& extents_;
  const Blocking& blocking_;
  const lower::TileLoop& loop_;
  Packer rows_, columns_;
  Pooled<std::byte> rowPanel_, columnPanel_, sums_;
  Pooled<int64_t> rowOffsets_, columnOffsets_;
  std::tuple<int64_t, int64_t, int64_t> packed_{-1, -1, -1};
};

void runBlocks(Thread& thread, const Contraction& contraction, const Extents& extents,
               unsigned threads) {
  lower::TileLoop loop = lower::tileLoopFor(contraction.panel);
  Blocking blocking = chooseBlocking(extents, loop.width);
  int64_t blocks = blocking.batches * blocking.rowBlocks * blocking.columnBlocks;
  runtime::runParts(blocks, 1, threads, [&](int64_t first, int64_t last) {
    Evaluator evaluator(thread, contraction);
    BlockProduct product(evaluator, extents, blocking, loop);
    for (int64_t block = first; block < last; ++block)
      product.run(block);
    return std::optional<runtime::Fault>();
  });
}

} // namespace

void contract(Thread& thread, const Contraction& contraction) {
  Evaluator evaluator(thread, contraction);
  Extents extents = evaluator.extents();
  if (extents.batches <= 0 || extents.rows <= 0 || extents.columns <= 0)
    return;
  double products = double(extents.batches) * double(extents.rows) * double(extents.columns) *
                    double(extents.summed);
  unsigned threads = runtime::threadsFor(nanosecondsOfProduct * products);
  bool hasFew = std::min(extents.rows, extents.columns) < fewRows;
  if (hasFew && contraction.panel == Element::Float32 && extents.summed > 0 && !lower::isMadeSmall)
    return runFewRows(thread, contraction, extents, threads);
  extents.summed = std::max<int64_t>(extents.summed, 0);
  runBlocks(thread, contraction, extents, threads);
}

} // namespace strips
