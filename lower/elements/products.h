// Loops of sums of products: tiles of panels, and rows with strips.
//
// A panel is slivers of a few rows or columns, each contiguous over the summed positions. A tile is
// a sliver of rows times one of columns.
#pragma once

#include "lower/elements/element.h"

#include <cstddef>

namespace lower {

/// The type in which the factors of a sum of type `element` are multiplied and added up. Of whole
/// numbers it has the size alone: they wrap alike.
Element panelElement(Element element);

inline constexpr size_t tileRows = 6;
/// The bytes of the widest register that tiles use, and of the totals of the largest tile.
inline constexpr size_t mostRegisterBytes = 32;
inline constexpr size_t mostTileBytes =
    tileRows * 2 * mostRegisterBytes / sizeof(float) * sizeof(double);

/// All that hangs on the type of the panels and on the processor.
struct TileLoop {
  /// Columns of a tile.
  size_t width;
  size_t panelBytes;
  /// What is added up, a row of `width` after the other.
  Element total;
  /// totals += rows * columns over `depth` summed positions.
  void (*add)(const std::byte* rows, const std::byte* columns, size_t depth, std::byte* totals);
};

TileLoop tileLoopFor(Element panel);

/// Puts the elements of a strip at summed position `k` into a panel of `depth` such positions and
/// slivers of `width`; the first belongs into row or column `first`.
using PackKernel = void (*)(const std::byte* strip, size_t first, size_t count, size_t width,
                            size_t depth, size_t k, std::byte* panel);
PackKernel packKernel(size_t elementBytes);

/// So many products are added up in float32 at most before they are added in float64.
inline constexpr size_t blockDepth = 32;

/// Loops of few rows, whose other factor is read where it lies.
struct RowLoops {
  double (*sumOfProducts)(const float* left, const float* right, size_t count);
  /// sums += strip * factor.
  void (*addStrip)(float* sums, const float* strip, float factor, size_t count);
};

RowLoops rowLoops();

} // namespace lower
