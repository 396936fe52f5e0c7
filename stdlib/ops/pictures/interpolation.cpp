// Interpolation of pictures along their spatial dimensions: coordinates, weights, stages.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/pictures/resize.h"

#include <algorithm>

namespace stdlib {

using namespace lang;

namespace {

constexpr runtime::DType Real = runtime::Float64;

Scalar floorOf(Scalar a) {
  return apply(ScalarFunction::Floor, {a});
}

Scalar clamped(Scalar position, Scalar extent) {
  return maximum(minimum(position, extent - 1.0), number(position, 0));
}

/// One spatial dimension: its number, its extents before and after, and its part of the region.
struct Line {
  size_t axis;
  Scalar in, out;
  Scalar start = {}, end = {};
};

/// Where the result at `position` of a line is read.
Scalar coordinateAt(std::string_view mode, const Line& line, Scalar position) {
  Scalar at = cast(position, Real), in = cast(line.in, Real), out = cast(line.out, Real);
  Scalar scale = in / out;
  if (mode == "align_corners")
    return select(line.out > 1.0, at * (in - 1.0) / (out - 1.0), number(at, 0));
  if (mode == "asymmetric")
    return at * scale;
  if (mode == "pytorch_half_pixel")
    return select(line.out > 1.0, (at + 0.5) * scale - 0.5, number(at, 0));
  if (mode == "tf_half_pixel_for_nn")
    return (at + 0.5) * scale;
  if (mode == "tf_crop_and_resize")
    return select(line.out > 1.0,
                  (in - 1.0) * line.start + at * (line.end - line.start) * (in - 1.0) / (out - 1.0),
                  (in - 1.0) * ((line.start + line.end) * 0.5));
  return (at + 0.5) * scale - 0.5;
}

/// The element nearest to a coordinate, as a float. Floor and ceil give way by 1e-5, so that
/// coordinates that are whole but for rounding stay what they are.
Scalar nearest(const Sampling& sampling, Scalar coordinate) {
  std::string_view rounding = sampling.rounding;
  if (rounding.empty())
    rounding = sampling.coordinates == "align_corners" ? "round" : "floor";
  if (rounding == "round_prefer_floor")
    return apply(ScalarFunction::Ceil, {coordinate - 0.5});
  if (rounding == "round_prefer_ceil")
    return floorOf(coordinate + 0.5);
  if (rounding == "floor")
    return floorOf(coordinate + 1e-5);
  if (rounding == "ceil")
    return apply(ScalarFunction::Ceil, {coordinate - 1e-5});
  return apply(ScalarFunction::Round, {coordinate});
}

/// The weights of the four neighbours of a coordinate whose fraction is `t`.
std::vector<Scalar> cubicWeights(Scalar t, double alpha) {
  Scalar square = t * t, cube = square * t;
  return {(cube - square * 2.0 + t) * alpha, cube * (alpha + 2) - square * (alpha + 3) + 1.0,
          square * (2 * alpha + 3) - cube * (alpha + 2) - t * alpha, (square - cube) * alpha};
}

/// Per position of the result along a line: the element left of the coordinate, and the weights of
/// `weights.size()` neighbours, the first of which is `before` elements to the left of that one.
struct LineTables {
  TensorHandle coordinate, left;
  std::vector<TensorHandle> weights;
  int64_t before = 0;
};

/// The weights as scalars at one position of a line, in float64.
std::vector<Scalar> weightsAt(const Sampling& sampling, const Line& line, Scalar coordinate) {
  Scalar left = floorOf(coordinate), t = coordinate - left;
  if (sampling.method == ResizeMethod::Linear)
    return {1.0 - t, t};
  std::vector<Scalar> weights = cubicWeights(t, sampling.cubicAlpha);
  if (!sampling.excludesOutside)
    return weights;
  Scalar total = number(t, 0), in = cast(line.in, Real);
  for (size_t k = 0; k < weights.size(); ++k) {
    Scalar place = left + (double(k) - 1);
    weights[k] = select(place < 0.0 || place >= in, number(t, 0), weights[k]);
    total = total + weights[k];
  }
  for (Scalar& weight : weights)
    weight = weight / total;
  return weights;
}

LineTables tablesOf(ComputeCall& call, const Sampling& sampling, const Line& line,
                    runtime::DType dtype) {
  LineTables tables;
  tables.coordinate = call.define({line.out}, [&](const Position& at) {
    return coordinateAt(sampling.coordinates, line, at[0]);
  });
  bool isNearest = sampling.method == ResizeMethod::Nearest;
  tables.left = call.define({line.out}, [&](const Position& at) {
    Scalar coordinate = tables.coordinate(at);
    return cast(isNearest ? nearest(sampling, coordinate) : floorOf(coordinate), runtime::Int64);
  });
  if (isNearest)
    return tables;
  size_t count = sampling.method == ResizeMethod::Linear ? 2 : 4;
  tables.before = count == 2 ? 0 : 1;
  for (size_t k = 0; k < count; ++k)
    tables.weights.push_back(call.define({line.out}, [&](const Position& at) {
      return cast(weightsAt(sampling, line, tables.coordinate(at))[k], dtype);
    }));
  return tables;
}

/// The element of `source` at `at`, whose position along the line is one of the result.
Scalar interpolated(const TensorHandle& source, const Line& line, const LineTables& tables,
                    const Position& at, runtime::DType dtype) {
  Scalar left = tables.left({at[line.axis]});
  auto neighbour = [&](int64_t offset) {
    return source(replaceAt(at, line.axis, clamped(left + double(offset), line.in)));
  };
  if (tables.weights.empty())
    return neighbour(0);
  Scalar sum;
  for (size_t k = 0; k < tables.weights.size(); ++k) {
    Scalar term =
        cast(neighbour(int64_t(k) - tables.before), dtype) * tables.weights[k]({at[line.axis]});
    sum = k == 0 ? term : sum + term;
  }
  return sum;
}

} // namespace

std::optional<ResizeMethod> resizeMethod(std::string_view name) {
  if (name == "nearest_neighbor")
    return ResizeMethod::Nearest;
  if (isOneOf(name, {"linear", "bilinear", "trilinear"}))
    return ResizeMethod::Linear;
  if (isOneOf(name, {"cubic", "bicubic", "tricubic"}))
    return ResizeMethod::Cubic;
  return std::nullopt;
}

bool isCoordinateMode(std::string_view name) {
  return isOneOf(name, {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
                        "tf_half_pixel_for_nn", "tf_crop_and_resize"});
}

bool isRoundingMethod(std::string_view name) {
  return isOneOf(name, {"", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
}

void computeResize(ComputeCall& call, const Sampling& sampling, const std::vector<size_t>& axes) {
  TensorHandle source = call.input(0);
  Extents target = call.outputShape(0);
  runtime::DType given = source.dtype(), wanted = call.outputDType(0);
  bool isNarrow = given.isFloat() && given.bits <= 32;
  runtime::DType dtype = isNarrow ? runtime::Float32 : runtime::Float64;

  std::vector<Line> lines;
  std::vector<LineTables> tables;
  for (size_t i = 0; i < axes.size(); ++i) {
    Line line{axes[i], source.extent(axes[i]), target[axes[i]]};
    if (!sampling.region.empty()) {
      line.start = sampling.region[i];
      line.end = sampling.region[i + axes.size()];
    }
    lines.push_back(line);
    tables.push_back(tablesOf(call, sampling, line, dtype));
  }
  for (size_t i = axes.size(); i-- > 1;)
    source =
        call.define(replaceAt(source.shape(), axes[i], target[axes[i]]), [&](const Position& at) {
          return interpolated(source, lines[i], tables[i], at, dtype);
        });
  call.result([&](const Position& at) {
    Scalar value = cast(interpolated(source, lines[0], tables[0], at, dtype), wanted);
    if (sampling.coordinates != "tf_crop_and_resize")
      return value;
    Scalar outside = constantOf(call, wanted, sampling.extrapolation);
    for (size_t i = 0; i < axes.size(); ++i) {
      Scalar coordinate = tables[i].coordinate({at[axes[i]]});
      value =
          select(coordinate < 0.0 || coordinate > cast(lines[i].in, Real) - 1.0, outside, value);
    }
    return value;
  });
}

} // namespace stdlib
