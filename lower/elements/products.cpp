// Sums of products of 16-bit floats are not rounded before they are added.
//
// Floats of at most 32 bits are added in float32 in blocks of `blockDepth` summed positions, in
// their order, and so are the blocks of a piece of `pieceDepth` positions; pieces are added in
// float64. So the error of a sum is bounded whatever its length, and a result does not depend on
// how many rows and columns there are beside it, unless they are few, nor on the processor: with
// wide registers more columns are done at once, each as it would be with narrow ones, and products
// are rounded before they are added everywhere.
#include "lower/elements/products.h"

#include "lower/elements/wide_registers.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace lower {

namespace {

constexpr size_t pieceDepth = 512;

/// The bytes of a register that the processor computes with.
constexpr size_t narrowBytes = 16, wideBytes = mostRegisterBytes;

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

template <typename A>
TileLoop tileLoopOf(Element total) {
  return hasWideRegisters()
             ? TileLoop{tileColumns<A, wideBytes>, sizeof(A), total, addWideTile<A>}
             : TileLoop{tileColumns<A, narrowBytes>, sizeof(A), total, addNarrowTile<A>};
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

constexpr size_t vectorLanes = 8, vectorsOfBlock = 4;
typedef float Floats __attribute__((vector_size(vectorLanes * sizeof(float))));

inline __attribute__((always_inline)) void addProducts(Floats& sums, const float* left,
                                                       const float* right) {
  Floats first, second;
  std::memcpy(&first, left, sizeof first);
  std::memcpy(&second, right, sizeof second);
  sums += first * second;
}

inline __attribute__((always_inline)) double sumOfProducts(const float* left, const float* right,
                                                           size_t count) {
  constexpr size_t step = vectorsOfBlock * vectorLanes, block = blockDepth * vectorLanes;
  double total = 0;
  size_t j = 0;
  while (j + vectorLanes <= count) {
    Floats sums[vectorsOfBlock] = {};
    if (count - j >= step) {
      size_t end = j + std::min(block, (count - j) / step * step);
      for (; j < end; j += step)
        for (size_t n = 0; n < vectorsOfBlock; ++n)
          addProducts(sums[n], left + j + n * vectorLanes, right + j + n * vectorLanes);
    } else {
      for (; j + vectorLanes <= count; j += vectorLanes)
        addProducts(sums[0], left + j, right + j);
    }
    Floats sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (size_t lane = 0; lane < vectorLanes; ++lane)
      total += double(sum[lane]);
  }
  for (; j < count; ++j)
    total += double(left[j]) * double(right[j]);
  return total;
}

inline __attribute__((always_inline)) void addScaledStrip(float* sums, const float* strip,
                                                          float factor, size_t count) {
  size_t j = 0;
  for (; j + vectorLanes <= count; j += vectorLanes) {
    Floats before, values;
    std::memcpy(&before, sums + j, sizeof before);
    std::memcpy(&values, strip + j, sizeof values);
    before += values * factor;
    std::memcpy(sums + j, &before, sizeof before);
  }
  for (; j < count; ++j)
    sums[j] += strip[j] * factor;
}

BATON_WIDE double wideSumOfProducts(const float* left, const float* right, size_t count) {
  return sumOfProducts(left, right, count);
}

double narrowSumOfProducts(const float* left, const float* right, size_t count) {
  return sumOfProducts(left, right, count);
}

BATON_WIDE void addWideStrip(float* sums, const float* strip, float factor, size_t count) {
  addScaledStrip(sums, strip, factor, count);
}

void addNarrowStrip(float* sums, const float* strip, float factor, size_t count) {
  addScaledStrip(sums, strip, factor, count);
}

} // namespace

Element panelElement(Element element) {
  if (isFloat(element))
    return element == Element::Float64 ? element : Element::Float32;
  return elementBytes(element) == 8 ? Element::Int64 : Element::Int32;
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

PackKernel packKernel(size_t elementBytes) {
  return elementBytes == 4 ? packStrip<uint32_t> : packStrip<uint64_t>;
}

RowLoops rowLoops() {
  return hasWideRegisters() ? RowLoops{wideSumOfProducts, addWideStrip}
                            : RowLoops{narrowSumOfProducts, addNarrowStrip};
}

} // namespace lower
