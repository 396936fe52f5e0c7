// Layout strings such as `NCHW16c`: which axis of a picture or weight each dimension of a tensor
// is.
//
// A capital letter is a whole axis; a number with a small letter is an inner tile of that axis, and
// the capital one then counts tiles. An axis may be tiled more than once (`OIHW4i16o4i`); the later
// tile is the inner one. Converting to tiles that do not divide an extent pads the last tile, and
// converting back keeps the padding.
#pragma once

#include "lang/op/compute.h"
#include "lang/op/relation.h"

namespace stdlib {

/// One dimension of a layout: the capital letter of its axis, and the size of the tile, or 0 when
/// it is the axis itself.
struct LayoutDim {
  char axis;
  int64_t tile = 0;

  bool isPrimal() const { return tile == 0; }
  friend bool operator==(const LayoutDim&, const LayoutDim&) = default;
};

/// A parsed layout, one entry per dimension of the tensor.
struct Layout {
  std::vector<LayoutDim> dims;

  size_t rank() const { return dims.size(); }
  /// The dimension that is the whole axis (or counts its tiles), or nothing.
  std::optional<size_t> find(char axis) const;
  /// The product of the tile sizes of an axis; 1 when it is not tiled.
  int64_t tileOf(char axis) const;
  bool hasTiles() const;
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Reads a layout string.
runtime::Checked<Layout> parseLayout(std::string_view text);

/// The string of a layout.
std::string layoutText(const Layout& layout);

/// True when both have the same axes, however ordered and tiled.
bool areConvertible(const Layout& from, const Layout& to);

/// The shape in layout `to` of a tensor that has `shape` in layout `from`; both must be
/// convertible. A problem when the rank or a tile of `shape` differs from `from`.
runtime::Checked<std::vector<const lang::Dim*>>
convertShape(lang::TypeContext& types, const Layout& from, const Layout& to, lang::Dims shape);

/// convertShape for the extents of a tensor in a computation.
lang::Extents convertExtents(const Layout& from, const Layout& to, const lang::Extents& extents);

/// Where the element at `at` of a tensor in layout `from` stands in layout `to`. To read a tensor
/// kept in `NCHW16c` by a position in `NCHW`: `data(convertPosition(nchw, nchw16c, at))`.
lang::Position convertPosition(const Layout& from, const Layout& to, const lang::Position& at);

} // namespace stdlib
