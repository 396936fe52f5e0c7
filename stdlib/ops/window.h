// Windows that slide over the spatial dimensions of a tensor: what convolutions and pools share.
//
// Lists of numbers have one entry per spatial dimension, in the order of spatialAxes(). Every
// number is checked to lie in 0 .. 2^31, so that sums and products of two fit in 64 bits.
#pragma once

#include "lang/op/relation.h"
#include "stdlib/ops/layout.h"

namespace stdlib {

/// The letters of the spatial axes: `W`, `HW` or `DHW` for 1, 2 or 3 dimensions.
std::string_view spatialAxes(size_t dims);

/// How a window moves: its step, the distance of its taps, and the padding on both sides.
struct Window {
  std::vector<int64_t> strides;
  std::vector<int64_t> dilation;
  std::vector<int64_t> before;
  std::vector<int64_t> after;

  bool isPadded() const;
  /// `[before..., after...]`, as the attribute `padding` takes it.
  std::vector<int64_t> padding() const;
};

/// Reads an attribute that has one number of at least `least` per spatial dimension.
runtime::Checked<std::vector<int64_t>>
readNumbers(const lang::Attributes& attributes, std::string_view name, size_t dims, int64_t least);

/// Reads `padding` into a window. One entry counts for all sides, one per dimension for both sides
/// of it; of two per dimension, all those before come first. Gives the problem, or nothing.
std::optional<runtime::Problem> readPadding(const lang::Attributes& attributes, size_t dims,
                                            Window& window);

/// Reads `strides`, `padding` and the dilation, whose attribute `dilationName` names. An empty list
/// is no dilation: TVM's gradient pass leaves it so in the pool gradients that it makes.
runtime::Checked<Window> readWindow(const lang::Attributes& attributes, size_t dims,
                                    std::string_view dilationName = "dilation");

/// How many positions a window of `kernel` taps has along spatial dimension `i` of that extent;
/// with `ceilMode`, the last one may run past the padding. A problem when the window does not fit.
runtime::Checked<const lang::Dim*> windowPositions(lang::TypeContext& types,
                                                   const lang::Dim* extent, const lang::Dim* kernel,
                                                   const Window& window, size_t i, bool ceilMode);

/// The same for a relation, whose answer is 0 where the extent is 0 and no window fits.
runtime::Checked<const lang::Dim*> windowExtent(const lang::RelationCall& call,
                                                const lang::Dim* extent, const lang::Dim* kernel,
                                                const Window& window, size_t i, bool ceilMode);

/// Lets a result ask for what windowExtent() takes for granted: that the window has a tap, and that
/// the padded data is as long as it unless there is none.
void requireWindow(lang::RelationResult& result, const lang::RelationCall& call,
                   const lang::Dim* extent, const lang::Dim* kernel, const Window& window,
                   size_t i);

/// Reads a layout attribute that must have the axes of `canonical`; `fallback` stands for an empty
/// text.
runtime::Checked<Layout> readLayout(const lang::Attributes& attributes, std::string_view name,
                                    const Layout& canonical, const Layout& fallback);

/// convertShape for a result: fails where a tile does not divide an extent.
runtime::Checked<std::vector<const lang::Dim*>> tiledShape(lang::TypeContext& types,
                                                           const Layout& canonical,
                                                           const Layout& layout, lang::Dims shape);

/// Lets a result ask that the tiles of `layout` divide the extents of a shape in `canonical`.
void requireTiles(lang::RelationResult& result, lang::TypeContext& types, const Layout& canonical,
                  const Layout& layout, lang::Dims shape);

} // namespace stdlib
