// Reading windows and counting their positions.
#include "stdlib/ops/window.h"

#include "stdlib/ops/common.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stdlib {

using lang::Attributes;
using lang::Dim;
using lang::Dims;
using runtime::Checked;
using runtime::Problem;

namespace {

constexpr int64_t largestNumber = int64_t(1) << 31;

/// The problem of a number of an attribute outside its range, or nothing.
std::optional<Problem> rangeProblem(const std::vector<int64_t>& numbers, std::string_view name,
                                    int64_t least) {
  for (int64_t number : numbers) {
    if (number < least)
      return Problem{fmt::format("`{}` is [{}], but no entry may be below {}", name,
                                 fmt::join(numbers, ", "), least)};
    if (number > largestNumber)
      return Problem{fmt::format("`{}` is [{}], but no entry may be above {}", name,
                                 fmt::join(numbers, ", "), largestNumber)};
  }
  return std::nullopt;
}

} // namespace

std::string_view spatialAxes(size_t dims) {
  return std::string_view("DHW").substr(3 - dims);
}

bool Window::isPadded() const {
  auto isSet = [](int64_t count) { return count != 0; };
  return std::ranges::any_of(before, isSet) || std::ranges::any_of(after, isSet);
}

std::vector<int64_t> Window::padding() const {
  std::vector<int64_t> all = before;
  all.insert(all.end(), after.begin(), after.end());
  return all;
}

Checked<std::vector<int64_t>> readNumbers(const Attributes& attributes, std::string_view name,
                                          size_t dims, int64_t least) {
  std::vector<int64_t> numbers = attributes.integers(name);
  if (numbers.size() != dims)
    return Problem{fmt::format("`{}` is [{}], but it must have {} {}", name,
                               fmt::join(numbers, ", "), dims, dims == 1 ? "entry" : "entries")};
  if (auto problem = rangeProblem(numbers, name, least))
    return *problem;
  return numbers;
}

std::optional<Problem> readPadding(const Attributes& attributes, size_t dims, Window& window) {
  std::vector<int64_t> padding = attributes.integers("padding");
  if (padding.size() != 1 && padding.size() != dims && padding.size() != 2 * dims) {
    std::string counts = dims == 1 ? "1 or 2" : fmt::format("1, {} or {}", dims, 2 * dims);
    return Problem{fmt::format("`padding` is [{}], but it must have {} entries",
                               fmt::join(padding, ", "), counts)};
  }
  if (auto problem = rangeProblem(padding, "padding", 0))
    return problem;
  if (padding.size() == 1)
    padding.assign(dims, padding[0]);
  window.before.assign(padding.begin(), padding.begin() + ptrdiff_t(dims));
  window.after.assign(padding.end() - ptrdiff_t(dims), padding.end());
  return std::nullopt;
}

Checked<Window> readWindow(const Attributes& attributes, size_t dims,
                           std::string_view dilationName) {
  auto strides = readNumbers(attributes, "strides", dims, 1);
  if (!strides)
    return strides.failure();
  std::vector<int64_t> dilations(dims, 1);
  if (!attributes.integers(dilationName).empty()) {
    auto given = readNumbers(attributes, dilationName, dims, 1);
    if (!given)
      return given.failure();
    dilations = *given;
  }
  Window window{*strides, dilations, {}, {}};
  auto problem = readPadding(attributes, dims, window);
  return problem ? Checked<Window>(*problem) : window;
}

namespace {

/// An extent with padding, what a window spans, and by how much that is less.
struct Room {
  const Dim* padded;
  const Dim* reach;
  const Dim* room;
};

Room roomOf(lang::TypeContext& types, const Dim* extent, const Dim* kernel, const Window& window,
            size_t i) {
  const Dim* one = types.constant(1);
  const Dim* padded = types.add(extent, types.constant(window.before[i] + window.after[i]));
  const Dim* taps = types.subtract(kernel, one);
  const Dim* reach = types.add(types.multiply(taps, types.constant(window.dilation[i])), one);
  return {padded, reach, types.subtract(padded, reach)};
}

} // namespace

void requireWindow(lang::RelationResult& result, const lang::RelationCall& call, const Dim* extent,
                   const Dim* kernel, const Window& window, size_t i) {
  requireAtLeast(result, kernel, 1);
  requireRoom(result, call, roomOf(call.types, extent, kernel, window, i).room, extent);
}

Checked<const Dim*> windowPositions(lang::TypeContext& types, const Dim* extent, const Dim* kernel,
                                    const Window& window, size_t i, bool ceilMode) {
  if (extent->isAny() || kernel->isAny())
    return types.any();
  auto [padded, reach, room] = roomOf(types, extent, kernel, window, i);
  bool isStatic = extent->isConstant() && kernel->isConstant();
  if (isStatic && !room->isConstant())
    return Problem{
        fmt::format("a window over an extent of {} is too large to count", extent->value)};
  if (room->isConstant() && room->value < 0 && !extent->isConstant(0)) {
    std::string withPadding =
        padded == extent ? "" : fmt::format(", {} with padding", dimText(padded));
    return Problem{fmt::format("the window spans {}, but the data has only {}{}", dimText(reach),
                               dimText(extent), withPadding)};
  }
  if (ceilMode)
    room = types.add(room, types.constant(window.strides[i] - 1));
  const Dim* positions = types.add(types.floorDivide(room, window.strides[i]), types.constant(1));
  return isStatic && positions->value < 0 ? types.constant(0) : positions;
}

Checked<const Dim*> windowExtent(const lang::RelationCall& call, const Dim* extent,
                                 const Dim* kernel, const Window& window, size_t i, bool ceilMode) {
  auto positions = windowPositions(call.types, extent, kernel, window, i, ceilMode);
  return positions ? Checked<const Dim*>(notNegative(call, *positions)) : positions;
}

Checked<Layout> readLayout(const Attributes& attributes, std::string_view name,
                           const Layout& canonical, const Layout& fallback) {
  std::string_view text = attributes.text(name);
  if (text.empty())
    return fallback;
  auto layout = parseLayout(text);
  if (!layout || areConvertible(*layout, canonical))
    return layout;
  return Problem{fmt::format("the {} `{}` cannot be converted to `{}`: its axes differ", name, text,
                             layoutText(canonical))};
}

Checked<std::vector<const Dim*>> tiledShape(lang::TypeContext& types, const Layout& canonical,
                                            const Layout& layout, Dims shape) {
  for (LayoutDim dim : canonical.dims) {
    const Dim* extent = shape[*canonical.find(dim.axis)];
    int64_t tile = layout.tileOf(dim.axis), whole = 0;
    if (!extent->isConstant() ||
        (!__builtin_mul_overflow(extent->value, canonical.tileOf(dim.axis), &whole) &&
         whole % tile == 0))
      continue;
    return Problem{
        fmt::format("the layout `{}` has tiles of {}, which do not divide axis `{}` of the "
                    "shape {} in layout `{}`",
                    layoutText(layout), tile, dim.axis, shapeText(shape), layoutText(canonical))};
  }
  return convertShape(types, canonical, layout, shape);
}

void requireTiles(lang::RelationResult& result, lang::TypeContext& types, const Layout& canonical,
                  const Layout& layout, Dims shape) {
  for (LayoutDim dim : canonical.dims) {
    const Dim* tiles = types.constant(canonical.tileOf(dim.axis));
    const Dim* whole = types.multiply(shape[*canonical.find(dim.axis)], tiles);
    requireMultiple(result, whole, layout.tileOf(dim.axis));
  }
}

} // namespace stdlib
