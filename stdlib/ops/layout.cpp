// Layout strings and conversions. For each axis, the position along it is the sum over its
// dimensions of position times the product of the tiles inside; a dimension is got back from that
// by division and remainder.
#include "stdlib/ops/layout.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using lang::Dim;
using lang::Dims;
using lang::Extents;
using lang::Position;
using lang::Scalar;
using runtime::Checked;
using runtime::Problem;

namespace {

constexpr int64_t largestTile = int64_t(1) << 31;

bool isCapital(char c) {
  return c >= 'A' && c <= 'Z';
}
bool isSmall(char c) {
  return c >= 'a' && c <= 'z';
}
bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

/// The product of the tiles of `axis` from dimension `first` on.
int64_t tilesFrom(const Layout& layout, char axis, size_t first) {
  int64_t product = 1;
  for (size_t i = first; i < layout.rank(); ++i)
    if (layout.dims[i].axis == axis && !layout.dims[i].isPrimal())
      product *= layout.dims[i].tile;
  return product;
}

/// The dimensions that are tiles of `axis`.
std::vector<size_t> tilesOf(const Layout& layout, char axis) {
  std::vector<size_t> result;
  for (size_t i = 0; i < layout.rank(); ++i)
    if (layout.dims[i].axis == axis && !layout.dims[i].isPrimal())
      result.push_back(i);
  return result;
}

/// The dimension of `from` that is dimension `i` of `to`, when both tile its axis alike.
std::optional<size_t> sameDim(const Layout& from, const Layout& to, size_t i) {
  char axis = to.dims[i].axis;
  std::vector<size_t> left = tilesOf(from, axis), right = tilesOf(to, axis);
  auto tile = [](const Layout& layout) {
    return [&layout](size_t j) { return layout.dims[j].tile; };
  };
  if (!std::ranges::equal(left, right, {}, tile(from), tile(to)))
    return std::nullopt;
  if (to.dims[i].isPrimal())
    return from.find(axis);
  return left[size_t(std::ranges::find(right, i) - right.begin())];
}

/// Checks what reading character by character cannot: doubled axes, tiles without axis, overflow.
Checked<Layout> checked(Layout layout, std::string_view text) {
  for (size_t i = 0; i < layout.rank(); ++i) {
    LayoutDim dim = layout.dims[i];
    if (!layout.find(dim.axis))
      return Problem{
          fmt::format("the layout `{}` has a tile of axis `{}` but not the axis", text, dim.axis)};
    if (dim.isPrimal() && *layout.find(dim.axis) != i)
      return Problem{fmt::format("the layout `{}` has axis `{}` twice", text, dim.axis)};
    int64_t product = 1;
    for (LayoutDim other : layout.dims)
      if (other.axis == dim.axis && !other.isPrimal())
        if (__builtin_mul_overflow(product, other.tile, &product) || product > largestTile)
          return Problem{fmt::format("the tiles of axis `{}` in the layout `{}` are too large",
                                     dim.axis, text)};
  }
  return layout;
}

} // namespace

std::optional<size_t> Layout::find(char axis) const {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i].axis == axis && dims[i].isPrimal())
      return i;
  return std::nullopt;
}

int64_t Layout::tileOf(char axis) const {
  return tilesFrom(*this, axis, 0);
}

bool Layout::hasTiles() const {
  return std::any_of(dims.begin(), dims.end(), [](LayoutDim dim) { return !dim.isPrimal(); });
}

Checked<Layout> parseLayout(std::string_view text) {
  Layout layout;
  int64_t tile = 0;
  for (char c : text) {
    if (isDigit(c)) {
      tile = tile * 10 + (c - '0');
      if (tile > largestTile)
        return Problem{fmt::format("a tile of the layout `{}` is too large", text)};
    } else if (isSmall(c) && tile > 0) {
      layout.dims.push_back({char(c - 'a' + 'A'), tile});
      tile = 0;
    } else if (isCapital(c) && tile == 0) {
      layout.dims.push_back({c});
    } else {
      return Problem{fmt::format("`{}` is not a layout: expected capital letters, and "
                                 "numbers with small letters, as in `NCHW16c`",
                                 text)};
    }
  }
  if (tile != 0 || layout.dims.empty())
    return Problem{fmt::format("`{}` is not a layout: expected a letter at its end", text)};
  return checked(std::move(layout), text);
}

std::string layoutText(const Layout& layout) {
  std::string text;
  for (LayoutDim dim : layout.dims)
    text += dim.isPrimal() ? std::string(1, dim.axis)
                           : fmt::format("{}{}", dim.tile, char(dim.axis - 'A' + 'a'));
  return text;
}

bool areConvertible(const Layout& from, const Layout& to) {
  auto covers = [](const Layout& left, const Layout& right) {
    return std::all_of(right.dims.begin(), right.dims.end(),
                       [&](LayoutDim dim) { return left.find(dim.axis).has_value(); });
  };
  return covers(from, to) && covers(to, from);
}

Checked<std::vector<const Dim*>> convertShape(lang::TypeContext& types, const Layout& from,
                                              const Layout& to, Dims shape) {
  if (shape.size() != from.rank())
    return Problem{fmt::format("the layout `{}` has {} dimensions, but the shape `{}` has {}",
                               layoutText(from), from.rank(), shapeText(shape), shape.size())};
  for (size_t i = 0; i < from.rank(); ++i)
    if (!from.dims[i].isPrimal() &&
        matchDims(shape[i], types.constant(from.dims[i].tile)) == lang::DimMatch::Different)
      return Problem{
          fmt::format("the layout `{}` has a tile of {} at dimension {}, but the shape is {}",
                      layoutText(from), from.dims[i].tile, i, shapeText(shape))};
  std::vector<const Dim*> result;
  for (LayoutDim dim : to.dims) {
    if (!dim.isPrimal()) {
      result.push_back(types.constant(dim.tile));
      continue;
    }
    const Dim* extent = shape[*from.find(dim.axis)];
    int64_t inside = from.tileOf(dim.axis), tile = to.tileOf(dim.axis);
    if (inside != tile) {
      extent = types.multiply(extent, types.constant(inside));
      extent = types.floorDivide(types.add(extent, types.constant(tile - 1)), tile);
    }
    result.push_back(extent);
  }
  return result;
}

Extents convertExtents(const Layout& from, const Layout& to, const Extents& extents) {
  Extents result;
  for (LayoutDim dim : to.dims) {
    Scalar extent = extents[*from.find(dim.axis)];
    if (!dim.isPrimal()) {
      result.push_back(number(extent, double(dim.tile)));
      continue;
    }
    int64_t inside = from.tileOf(dim.axis), tile = to.tileOf(dim.axis);
    result.push_back(
        inside == tile ? extent : floorDivide(extent * double(inside) + double(tile - 1), tile));
  }
  return result;
}

Position convertPosition(const Layout& from, const Layout& to, const Position& at) {
  Position result;
  for (size_t i = 0; i < to.rank(); ++i) {
    char axis = to.dims[i].axis;
    if (auto same = sameDim(from, to, i)) {
      result.push_back(at[*same]);
      continue;
    }
    Scalar along = at[*from.find(axis)] * double(from.tileOf(axis));
    for (size_t j : tilesOf(from, axis))
      along = along + at[j] * double(tilesFrom(from, axis, j + 1));
    if (to.dims[i].isPrimal()) {
      result.push_back(floorDivide(along, to.tileOf(axis)));
    } else {
      int64_t inner = tilesFrom(to, axis, i + 1);
      result.push_back(floorDivide(floorMod(along, inner * to.dims[i].tile), inner));
    }
  }
  return result;
}

} // namespace stdlib
