// Reading pictures at real positions: grid_sample and its affine_grid.
//
// A grid holds coordinates from -1 to 1, x (the last dimension of the picture) first. Positions are
// computed in float64.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/layout.h"
#include "stdlib/ops/pictures/picture_samples.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

constexpr runtime::DType Real = runtime::Float64;

RelationResult affineGridRelation(const RelationCall& call) {
  Dims shape = call.shape(0);
  if (shape.size() != 3 || cannotBe(call, shape[1], 2) || cannotBe(call, shape[2], 3))
    return call.failedAt(0, words("the matrices must have the shape (batch, 2, 3), but they "
                                  "are `{}`",
                                  call.operands[0]));
  auto target = shapeAttribute(call, "target_shape");
  if (!target || target->size() != 2 || (*target)[0]->value < 2 || (*target)[1]->value < 2)
    return call.failed("`target_shape` must hold a height and a width of 2 or more");
  return call.solved(call.types.tensor(
      {shape[0], call.types.constant(2), (*target)[0], (*target)[1]}, call.dtype(0)));
}

void computeAffineGrid(ComputeCall& call) {
  TensorHandle x = call.input(0);
  std::vector<int64_t> target = call.attributes().integers("target_shape");
  auto along = [&](Scalar place, int64_t extent) {
    // Relay keeps the last place a little inside, so that sampling there reads no neighbour.
    return cast(cast(place, Real) * ((2.0 - 1e-7) / double(extent - 1)) - 1.0, x.dtype());
  };
  call.result([&](const Position& at) {
    auto entry = [&](int64_t column) { return x({at[0], at[1], call.integer(column)}); };
    return entry(0) * along(at[3], target[1]) + entry(1) * along(at[2], target[0]) + entry(2);
  });
}

RelationResult gridSampleRelation(const RelationCall& call) {
  size_t rank = call.rank(0);
  if ((rank != 4 && rank != 5) || call.rank(1) != rank)
    return call.failedAt(1, words("the data and the grid must both have 4 or 5 dimensions, "
                                  "but they are `{}` and `{}`",
                                  call.operands[0], call.operands[1]));
  if (!call.dtype(0).isFloat() || !call.dtype(1).isFloat())
    return call.failed(words("the data and the grid must be floating point, but they are "
                             "`{}` and `{}`",
                             call.operands[0], call.operands[1]));
  std::string_view method = call.attributes.text("method");
  if (rank == 4 ? !isOneOf(method, {"nearest", "bilinear", "bicubic"})
                : !isOneOf(method, {"nearest", "bilinear"}))
    return choiceFailure(call, "method",
                         rank == 4 ? "`nearest`, `bilinear` or `bicubic`"
                                   : "`nearest` or `bilinear` for 5 dimensions");
  if (!isOneOf(call.attributes.text("padding_mode"), {"zeros", "border", "reflection"}))
    return choiceFailure(call, "padding_mode", "`zeros`, `border` or `reflection`");
  if (call.attributes.text("layout") != (rank == 4 ? "NCHW" : "NCDHW"))
    return choiceFailure(call, "layout", rank == 4 ? "`NCHW`" : "`NCDHW`");
  const Dim* batch = call.meetDims(call.shape(0)[0], call.shape(1)[0]);
  const Dim* ways = call.shape(1)[1];
  if (!batch || cannotBe(call, ways, int64_t(rank) - 2))
    return call.failedAt(1,
                         fmt::format("the grid must have the batch of the data and {} "
                                     "coordinates, but their shapes are `{}` and `{}`",
                                     rank - 2, shapeText(call.shape(1)), shapeText(call.shape(0))));
  std::vector<const Dim*> shape(call.shape(1).begin(), call.shape(1).end());
  shape[0] = batch;
  shape[1] = call.shape(0)[1];
  return call.solved(shape, call.dtype(0));
}

/// How grid_sample maps coordinates of one dimension.
template <typename Value>
struct GridLine {
  Value extent;
  bool alignsCorners;
  std::string_view padding;

  Value position(const Value& coordinate) const {
    return alignsCorners ? (coordinate + 1.0) * (extent - 1.0) / 2.0
                         : (coordinate + 1.0) * extent / 2.0 - 0.5;
  }

  /// The position moved inside, unless outside counts as zero.
  Value inside(const Value& at) const {
    if (padding == "zeros")
      return at;
    Value moved = padding == "reflection" ? reflected(at) : at;
    return maximum(minimum(moved, extent - 1.0), number(at, 0));
  }

  /// How the position changes with the coordinate.
  Value step() const { return (alignsCorners ? extent - 1.0 : extent) / 2.0; }

  /// The same for the position moved inside, which is held fast at the borders.
  Value stepInside(const Value& at) const {
    Value step = this->step(), zero = number(at, 0);
    if (padding == "zeros")
      return step;
    Value moved = at;
    if (padding == "reflection") {
      Value isForward = isEven(at) == (at >= start());
      step = select(span() > 0.0, select(isForward, step, -step), zero);
      moved = reflected(at);
    }
    return select(moved > 0.0 && moved < extent - 1.0, step, zero);
  }

private:
  double start() const { return alignsCorners ? 0 : -0.5; }
  Value span() const { return alignsCorners ? extent - 1.0 : extent; }
  Value times(const Value& at) const { return floorOf(absOf(at - start()) / span()); }
  /// Whether a position is mirrored an even number of times, that at the start not counted.
  Value isEven(const Value& at) const {
    Value count = times(at);
    return count - floorOf(count / 2.0) * 2.0 == 0.0;
  }
  /// Mirrored about the first and last element, or about their outer edges.
  Value reflected(const Value& at) const {
    Value rest = absOf(at - start()) - times(at) * span();
    Value mirrored = select(isEven(at), rest, span() - rest) + start();
    return select(span() > 0.0, mirrored, number(at, 0));
  }
};

constexpr double cubicAlpha = -0.75;

/// The weights of the neighbours of a position whose fraction is `t`: two for bilinear, four for
/// bicubic.
template <typename Value>
std::vector<Value> gridWeights(std::string_view method, const Value& t) {
  if (method == "bilinear")
    return {1.0 - t, t};
  constexpr double a = cubicAlpha;
  auto near = [&](const Value& d) { return (d * (a + 2) - (a + 3)) * d * d + 1.0; };
  auto far = [&](const Value& d) { return ((d * a - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)};
}

/// The derivatives of the weights.
std::vector<Term> gridSlopes(std::string_view method, const Term& t) {
  if (method == "bilinear")
    return {-onesLike(t), onesLike(t)};
  constexpr double a = cubicAlpha;
  auto near = [&](const Term& d) { return (d * (3 * a + 6) - (2 * a + 6)) * d; };
  auto far = [&](const Term& d) { return (d * (3 * a) - 10 * a) * d + 8 * a; };
  return {far(t + 1.0), near(t), -near(1.0 - t), -far(2.0 - t)};
}

/// What to read along one dimension.
template <typename Value>
Taps<Value> gridTaps(std::string_view method, const GridLine<Value>& line, const Value& position) {
  // Bicubic moves each neighbour inside by itself, the others move the position.
  Value at = method == "bicubic" ? position : line.inside(position);
  if (method == "nearest")
    return {{roundEvenOf(at)}};
  Value left = floorOf(at), fraction = at - left;
  Taps<Value> taps{{}, gridWeights(method, fraction)};
  for (size_t k = 0; k < taps.weights.size(); ++k) {
    Value place = left + (double(k) - (taps.weights.size() == 4 ? 1 : 0));
    taps.places.push_back(method == "bicubic" ? line.inside(place) : place);
  }
  if constexpr (std::is_same_v<Value, Term>)
    taps.slopes = gridSlopes(method, fraction);
  return taps;
}

template <typename Value>
GridLine<Value> gridLine(const Attributes& attributes, const Value& extent) {
  return {extent, attributes.boolean("align_corners"), attributes.text("padding_mode")};
}

void computeGridSample(ComputeCall& call) {
  TensorHandle x = call.input(0), grid = call.input(1);
  const Attributes& attributes = call.attributes();
  std::string_view method = attributes.text("method");
  Scalar zero = call.number(x.dtype(), 0);
  size_t ways = x.rank() - 2;
  call.result([&](const Position& at) {
    std::vector<Taps<Scalar>> taps;
    for (size_t i = 0; i < ways; ++i) {
      auto line = gridLine(attributes, cast(x.extent(i + 2), Real));
      Scalar coordinate = grid(replaceAt(at, 1, call.integer(int64_t(ways - 1 - i))));
      taps.push_back(gridTaps(method, line, line.position(cast(coordinate, Real))));
    }
    size_t perWay = taps[0].places.size(), count = 1;
    for (size_t i = 0; i < ways; ++i)
      count *= perWay;
    Scalar sum;
    for (size_t flat = 0; flat < count; ++flat) {
      Position from = at;
      Scalar weight;
      for (size_t i = ways, rest = flat; i-- > 0; rest /= perWay) {
        from[i + 2] = cast(taps[i].places[rest % perWay], runtime::Int64);
        if (!taps[i].weights.empty()) {
          Scalar factor = cast(taps[i].weights[rest % perWay], x.dtype());
          weight = i + 1 == ways ? factor : weight * factor;
        }
      }
      Scalar value = x.orElse(from, zero);
      if (weight.node())
        value = value * weight;
      sum = flat == 0 ? value : sum + value;
    }
    return sum;
  });
}

constexpr OperandRow affineOperands[] = {{"data", "a matrix of 2 rows and 3 columns per picture"}};
constexpr OperandRow gridOperands[] = {
    {"data", "the pictures"},
    {"grid", "where to read, from -1 to 1: batch, coordinate (x first), height, width"}};

constexpr AttributeRow affineAttributes[] = {
    AttributeRow{"target_shape", AttributeKind::IntList, "", "the height and width of the grid"}
        .ofLength(2)};
constexpr AttributeRow gridAttributes[] = {
    {"method", AttributeKind::String, "\"bilinear\"", "`nearest`, `bilinear` or `bicubic`"},
    {"layout", AttributeKind::String, "\"NCHW\"", "`NCHW`, or `NCDHW` for volumes"},
    {"padding_mode", AttributeKind::String, "\"zeros\"",
     "what is outside: `zeros`, `border` or `reflection`"},
    {"align_corners", AttributeKind::Bool, "True",
     "whether -1 and 1 are the centres of the outer elements, not their outer edges"}};

constexpr Example affineExamples[] = {
    {"image.affine_grid([[[1f, 0f, 0f], [0f, 2f, 1f]]], target_shape=[2, 2])",
     "[[[[-1f, 1f], [-1f, 1f]], [[-1f, -1f], [3f, 3f]]]]"}};
constexpr Example gridExamples[] = {
    {"image.grid_sample([[[[0f, 1f], [2f, 3f]]]], [[[[0f, 3f]], [[0f, 0f]]]])", "[[[[1.5f, 0f]]]]"},
    {"image.grid_sample([[[[0f, 1f], [2f, 3f]]]], [[[[0.9f, 3f]], [[-1f, -1f]]]], "
     "method=\"nearest\", padding_mode=\"border\")",
     "[[[[1f, 1f]]]]"},
    {"image.grid_sample([[[[0f, 1f, 2f, 4f]]]], [[[[0f]], [[0f]]]], method=\"bicubic\", "
     "align_corners=False)",
     "[[[[1.40625f]]]]"},
    {"image.grid_sample([[[[[0f, 4f]]]]], [[[[[2f]]], [[[0f]]], [[[0f]]]]], layout=\"NCDHW\", "
     "padding_mode=\"reflection\")",
     "[[[[[2f]]]]]"}};

/// The grid is linear in the matrix; its factors are the coordinates of the regular grid.
void affineGradient(GradientCall& d) {
  runtime::Tensor identity(runtime::Float32, {1, 2, 3});
  std::ranges::copy(std::array{1.f, 0.f, 0.f, 0.f, 1.f, 0.f}, identity.elements<float>().begin());
  Term matrix = castTo(d.constant(identity), d.cotangent().dtype());
  Term grid = d.call("image.affine_grid", {matrix}, sameAttributes(d));
  auto part = [&](int64_t i) {
    Term coordinate = sliced(grid, 1, i, i + 1);
    return expandDims(sum(d.cotangent() * coordinate, {2, 3}), 2);
  };
  give(d, 0, concatenated({part(0), part(1), expandDims(sum(d.cotangent(), {2, 3}), 2)}, 2));
}

/// `[batch, channels, ...]` with the channels last, or back.
Term channelsLast(const Term& a) {
  std::vector<size_t> order = allAxesBut(1, a.rank());
  order.push_back(1);
  return transposed(a, order);
}

Term channelsSecond(const Term& a) {
  std::vector<size_t> order = allAxes(a.rank() - 1);
  order.insert(order.begin() + 1, a.rank() - 1);
  return transposed(a, order);
}

void gridSampleGradient(GradientCall& d) {
  Term data = d.operand(0), grid = d.operand(1);
  size_t ways = data.rank() - 2;
  std::string_view method = d.attributes().text("method");
  Term cotangent = channelsLast(d.cotangent());
  std::vector<Taps<Term>> taps;
  std::vector<Term> slopes;
  for (size_t i = 0; i < ways; ++i) {
    auto line = gridLine(d.attributes(), castTo(extentOf(data, i + 2), Real));
    Term at = line.position(castTo(partAt(grid, int64_t(ways - 1 - i), 1), Real));
    taps.push_back(gridTaps(method, line, at));
    slopes.push_back(method == "bicubic" ? line.step() : line.stepInside(at));
  }
  Term pictures = channelsLast(castTo(data, wideFloat(data.dtype(), data.dtype())));
  Term picture = alongAxis(positionsAlong(data, 0), 0, ways + 1);
  PictureSamples samples = samplesOf(pictures, picture, taps);
  give(d, 0, castTo(channelsSecond(toPictures(samples, cotangent)), data.dtype()));
  if (method == "nearest")
    return;
  std::vector<Term> parts = toPositions(samples, cotangent);
  for (size_t i = 0; i < ways; ++i)
    parts[i] = castTo(parts[i] * slopes[i], grid.dtype());
  std::ranges::reverse(parts);
  give(d, 1, stacked(parts, 1));
}

constexpr GradientExample gridGradients[] = {
    {"image.grid_sample([[[[0f, 1f], [2f, 3f]]]], [[[[0f]], [[0f]]]])", "[[[[4f]]]]",
     "([[[[1f, 1f], [1f, 1f]]]], [[[[2f]], [[4f]]]])"},
    {"image.grid_sample([[[[0f, 1f], [2f, 3f]]]], [[[[3f]], [[0f]]]], padding_mode=\"border\")",
     "[[[[4f]]]]", "([[[[0f, 2f], [0f, 2f]]]], [[[[0f]], [[4f]]]])"},
};

constexpr OperatorRow rows[] = {
    {.name = "image.affine_grid",
     .doc = "The sampling grid of an affine map, for `image.grid_sample`.",
     .details = "The point (x, y) of a regular grid from -1 to 1 goes to the matrix times "
                "(x, y, 1).",
     .operands = affineOperands,
     .attributes = affineAttributes,
     .attributesKey = "relay.attrs.AffineGridAttrs",
     .relation = affineGridRelation,
     .compute = computeAffineGrid,
     .gradient = GradientRule{affineGradient},
     .examples = affineExamples},
    {.name = "image.grid_sample",
     .doc = "Reads pictures at the positions that a grid gives.",
     .details =
         "The gradient by the grid is the one to the right at an element, zero where padding "
         "holds a position fast, and there is none with `nearest`, which is piecewise "
         "constant.",
     .operands = gridOperands,
     .attributes = gridAttributes,
     .attributesKey = "relay.attrs.GridSampleAttrs",
     .relation = gridSampleRelation,
     .compute = computeGridSample,
     .gradient = GradientRule{gridSampleGradient, gridGradients},
     .examples = gridExamples},
};

} // namespace

OperatorFamily samplingFamily() {
  return rows;
}

} // namespace stdlib
