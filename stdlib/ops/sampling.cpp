// Reading pictures at real positions: grid_sample and its affine_grid, roi_align.
//
// A grid holds coordinates from -1 to 1, x (the last dimension of the picture) first. Positions are
// computed in float64.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/layout.h"
#include "stdlib/ops/picture_samples.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

constexpr runtime::DType Real = runtime::Float64;

RelationResult affineGridRelation(const RelationCall& call) {
  Dims shape = call.shape(0);
  if (shape.size() != 3 || cannotBe(call.types, shape[1], 2) || cannotBe(call.types, shape[2], 3))
    return call.failedAt(0, fmt::format("the matrices must have the shape (batch, 2, 3), but they "
                                        "are `{}`",
                                        typeText(call.operands[0])));
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
    return call.failedAt(1, fmt::format("the data and the grid must both have 4 or 5 dimensions, "
                                        "but they are `{}` and `{}`",
                                        typeText(call.operands[0]), typeText(call.operands[1])));
  if (!call.dtype(0).isFloat() || !call.dtype(1).isFloat())
    return call.failed(fmt::format("the data and the grid must be floating point, but they are "
                                   "`{}` and `{}`",
                                   typeText(call.operands[0]), typeText(call.operands[1])));
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
  const Dim* batch = meetDims(call.shape(0)[0], call.shape(1)[0]);
  const Dim* ways = call.shape(1)[1];
  if (!batch || cannotBe(call.types, ways, int64_t(rank) - 2))
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

RelationResult roiAlignRelation(const RelationCall& call) {
  std::string_view layout = call.attributes.text("layout");
  if (!isOneOf(layout, {"NCHW", "NHWC"}))
    return choiceFailure(call, "layout", "`NCHW` or `NHWC`");
  if (!isOneOf(call.attributes.text("mode"), {"avg", "max"}))
    return choiceFailure(call, "mode", "`avg` or `max`");
  Dims rois = call.shape(1);
  if (call.rank(0) != 4)
    return call.failedAt(0, fmt::format("the data must have 4 dimensions, but it is `{}`",
                                        typeText(call.operands[0])));
  if (rois.size() != 2 || cannotBe(call.types, rois[1], 5))
    return call.failedAt(1, fmt::format("the regions must have the shape (count, 5), but they are "
                                        "`{}`",
                                        typeText(call.operands[1])));
  if (!call.dtype(0).isFloat())
    return call.failedAt(0, fmt::format("the data must be floating point, but it is `{}`",
                                        typeText(call.operands[0])));
  if (call.attributes.integer("sample_ratio") > 1024)
    return call.failed("`sample_ratio` must be 1024 or less");
  auto size = shapeAttribute(call, "pooled_size");
  if (!size || size->size() != 2 || (*size)[0]->value == 0 || (*size)[1]->value == 0)
    return call.failed("`pooled_size` must hold a positive height and width");
  if (layout == "NCHW")
    return call.solved(
        call.types.tensor({rois[0], call.shape(0)[1], (*size)[0], (*size)[1]}, call.dtype(0)));
  return call.solved(
      call.types.tensor({rois[0], (*size)[0], (*size)[1], call.shape(0)[3]}, call.dtype(0)));
}

/// The samples of the regions' bins along one side of the pictures.
struct Samples {
  Scalar extent;
  /// By region: where it begins, and how long a bin is.
  TensorHandle start, length;
  /// By region: how many samples a bin has, as many as it is long when the attribute says so.
  TensorHandle count;

  /// Where sample `i` of bin `bin` lies.
  Scalar at(Scalar region, Scalar bin, Scalar i) const {
    Scalar part = (cast(i, Real) + 0.5) / cast(count({region}), Real);
    return start({region}) + (cast(bin, Real) + part) * length({region});
  }
  /// Samples further out than this are zero.
  Scalar isNear(Scalar place) const { return place >= -1.0 && place <= cast(extent, Real); }
  Scalar inside(Scalar place) const {
    return minimum(maximum(place, number(place, 0)), cast(extent, Real) - 1.0);
  }
};

/// The samples along the side whose ends are columns `from` and `from + 2` of the regions.
Samples samplesOf(ComputeCall& call, int64_t from, Scalar bins, Scalar extent) {
  TensorHandle rois = call.input(1);
  double scale = call.attributes().real("spatial_scale");
  int64_t given = call.attributes().integer("sample_ratio");
  auto side = [=, &call](const Position& region, int64_t column) {
    return cast(rois({region[0], call.integer(column)}), Real) * scale;
  };
  Extents each{rois.extent(0)};
  Samples samples{extent, {}, {}, {}};
  samples.start = call.define(each, [&](const Position& region) { return side(region, from); });
  samples.length = call.define(each, [&](const Position& region) {
    Scalar whole = side(region, from + 2) - side(region, from);
    return maximum(whole, number(whole, 1)) / cast(bins, Real);
  });
  samples.count = call.define(each, [&](const Position& region) {
    Scalar rounded = apply(ScalarFunction::Ceil, {samples.length(region)});
    return given > 0 ? call.integer(given) : cast(rounded, runtime::Int64);
  });
  return samples;
}

/// The number of a sample, and whether the bin has it.
struct Sample {
  Scalar number, exists;
};

/// Counts through the samples of a bin. When their number is known they are counted from the first.
/// Else samples are at least half an element apart, or alone, so that not many more than two for
/// each element are near the picture: these are counted, from a first one that is near.
struct SampleLoop {
  const Samples* samples;
  std::optional<int64_t> given;

  Scalar extent(ComputeCall& call) const {
    return given ? call.integer(*given) : samples->extent * 2.0 + 8.0;
  }
  Scalar first(Scalar region, Scalar bin) const {
    Scalar before = (-1.0 - samples->start({region})) / samples->length({region}) - cast(bin, Real);
    Scalar number = apply(ScalarFunction::Floor, {before * cast(samples->count({region}), Real)});
    return cast(maximum(number - 1.0, lang::number(number, 0)), runtime::Int64);
  }
  Sample at(Scalar region, Scalar bin, Scalar i) const {
    if (given)
      return {i, number(i, 1) > 0.0};
    Scalar number = first(region, bin) + i;
    return {number, number < samples->count({region})};
  }
  /// Whether a sample is left out: then it is not near the picture.
  Scalar leavesOut(ComputeCall& call, Scalar region, Scalar bin) const {
    if (given)
      return call.number(runtime::Bool, 0);
    Scalar from = first(region, bin);
    return from > 0.0 || from + extent(call) < samples->count({region});
  }
};

/// Averages over unknown numbers of samples are sums of products: each row and each column of the
/// picture has a weight in a bin, the part of the bin's samples that read it.
TensorHandle weightsOf(ComputeCall& call, const Samples& samples, const SampleLoop& loop,
                       Scalar bins) {
  Extents shape{call.input(1).extent(0), bins, samples.extent};
  return call.define(shape, [&](const Position& at) {
    Scalar zero = call.number(Real, 0), one = call.number(Real, 1);
    Scalar sum = call.sumOver({loop.extent(call)}, [&](const Position& i) {
      Sample sample = loop.at(at[0], at[1], i[0]);
      Scalar place = samples.at(at[0], at[1], sample.number);
      Scalar distance = apply(ScalarFunction::Abs, {samples.inside(place) - cast(at[2], Real)});
      return select(sample.exists && samples.isNear(place), maximum(one - distance, zero), zero);
    });
    return sum / cast(samples.count({at[0]}), Real);
  });
}

/// A bin whose samples are read one by one.
struct SampledBin {
  const Samples* sides;
  const SampleLoop* loops;
  Scalar region, row, column;
  std::function<Scalar(Scalar y, Scalar x)> element;

  Extents extents(ComputeCall& call) const {
    return {loops[0].extent(call), loops[1].extent(call)};
  }

  /// The bilinear value of a sample, `none` where the bin has no such sample.
  Scalar value(const Position& i, Scalar none) const {
    Sample down = loops[0].at(region, row, i[0]), across = loops[1].at(region, column, i[1]);
    Scalar y = sides[0].at(region, row, down.number);
    Scalar x = sides[1].at(region, column, across.number);
    Scalar isNear = sides[0].isNear(y) && sides[1].isNear(x);
    y = sides[0].inside(y), x = sides[1].inside(x);
    Scalar top = apply(ScalarFunction::Floor, {y}), left = apply(ScalarFunction::Floor, {x});
    auto read = [&](double below, double right) {
      Scalar place = cast(top, runtime::Int64) + below, along = cast(left, runtime::Int64) + right;
      return element(minimum(place, sides[0].extent - 1.0), minimum(along, sides[1].extent - 1.0));
    };
    Scalar part = x - left;
    Scalar upper = read(0, 0) * (1.0 - part) + read(0, 1) * part;
    Scalar lower = read(1, 0) * (1.0 - part) + read(1, 1) * part;
    Scalar sample = upper * (1.0 - (y - top)) + lower * (y - top);
    return select(down.exists && across.exists, select(isNear, sample, number(sample, 0)), none);
  }

  Scalar greatest(ComputeCall& call) const {
    Scalar lowest = lowestOf(call, Real);
    Scalar most =
        call.maximumOver(extents(call), [&](const Position& i) { return value(i, lowest); });
    Scalar leavesOut =
        loops[0].leavesOut(call, region, row) || loops[1].leavesOut(call, region, column);
    return select(leavesOut, maximum(most, number(most, 0)), most);
  }

  Scalar average(ComputeCall& call) const {
    Scalar sum = call.sumOver(extents(call),
                              [&](const Position& i) { return value(i, call.number(Real, 0)); });
    return sum / cast(sides[0].count({region}) * sides[1].count({region}), Real);
  }
};

void computeRoiAlign(ComputeCall& call) {
  const Attributes& attributes = call.attributes();
  TensorHandle data = call.input(0), rois = call.input(1);
  Layout canonical = *parseLayout("NCHW"), layout = *parseLayout(attributes.text("layout"));
  Extents from = convertExtents(layout, canonical, data.shape());
  Extents to = convertExtents(layout, canonical, call.outputShape());
  Samples sides[] = {samplesOf(call, 2, to[2], from[2]), samplesOf(call, 1, to[3], from[3])};
  std::optional<int64_t> given;
  if (int64_t ratio = attributes.integer("sample_ratio"); ratio > 0)
    given = ratio;
  SampleLoop loops[] = {{&sides[0], given}, {&sides[1], given}};
  // A region that is not finite names no picture, which is a fault.
  TensorHandle pictures = call.define({rois.extent(0)}, [&](const Position& region) {
    Scalar number = apply(ScalarFunction::Floor, {cast(rois({region[0], call.integer(0)}), Real)});
    Scalar ends = sides[0].start(region) + sides[0].length(region) + sides[1].start(region) +
                  sides[1].length(region);
    return cast(select(apply(ScalarFunction::IsFinite, {ends}), number, lang::number(number, -1)),
                runtime::Int64);
  });
  auto elementOf = [&](Scalar region, Scalar channel, Scalar y, Scalar x) {
    Position place{pictures({region}), channel, y, x};
    return cast(data(convertPosition(canonical, layout, place)), Real);
  };
  bool isMaximum = attributes.text("mode") == "max";
  if (isMaximum || given)
    return call.result([&](const Position& place) {
      Position at = convertPosition(layout, canonical, place);
      SampledBin bin{sides, loops,
                     at[0], at[2],
                     at[3], [&](Scalar y, Scalar x) {
                       return elementOf(at[0], at[1], y, x); }};
      return cast(isMaximum ? bin.greatest(call) : bin.average(call), data.dtype());
    });
  TensorHandle rows = weightsOf(call, sides[0], loops[0], to[2]);
  TensorHandle columns = weightsOf(call, sides[1], loops[1], to[3]);
  TensorHandle joined = call.define({to[0], to[1], to[2], from[3]}, [&](const Position& at) {
    return call.sumOver({from[2]}, [&](const Position& y) {
      return rows({at[0], at[2], y[0]}) * elementOf(at[0], at[1], y[0], at[3]);
    });
  });
  call.result([&](const Position& place) {
    Position at = convertPosition(layout, canonical, place);
    Scalar sum = call.sumOver({from[3]}, [&](const Position& x) {
      return columns({at[0], at[3], x[0]}) * joined({at[0], at[1], at[2], x[0]});
    });
    return cast(sum, data.dtype());
  });
}

constexpr OperandRow affineOperands[] = {{"data", "a matrix of 2 rows and 3 columns per picture"}};
constexpr OperandRow gridOperands[] = {
    {"data", "the pictures"},
    {"grid", "where to read, from -1 to 1: batch, coordinate (x first), height, width"}};
constexpr OperandRow roiOperands[] = {{"data", "the pictures"},
                                      {"rois", "rows of (batch item, left, top, right, bottom)"}};

constexpr AttributeRow affineAttributes[] = {
    {"target_shape", AttributeKind::IntList, "", "the height and width of the grid"}};
constexpr AttributeRow gridAttributes[] = {
    {"method", AttributeKind::String, "\"bilinear\"", "`nearest`, `bilinear` or `bicubic`"},
    {"layout", AttributeKind::String, "\"NCHW\"", "`NCHW`, or `NCDHW` for volumes"},
    {"padding_mode", AttributeKind::String, "\"zeros\"",
     "what is outside: `zeros`, `border` or `reflection`"},
    {"align_corners", AttributeKind::Bool, "True",
     "whether -1 and 1 are the centres of the outer elements, not their outer edges"}};
constexpr AttributeRow roiAttributes[] = {
    {"pooled_size", AttributeKind::IntList, "", "the height and width of the result"},
    {"spatial_scale", AttributeKind::Float, "", "the factor from regions to elements"},
    {"sample_ratio", AttributeKind::Int, "-1",
     "how many samples a bin has each way; one per element when not positive"},
    {"layout", AttributeKind::String, "\"NCHW\"", "`NCHW` or `NHWC`"},
    {"mode", AttributeKind::String, "\"avg\"", "`avg` or `max` of the samples of a bin"}};

constexpr NoGradient scatters = {
    "adds to elements that positions name, which no operator does for real positions"};

constexpr Example affineExamples[] = {
    {"image.affine_grid([[[1f, 0f, 0f], [0f, 2f, 1f]]], target_shape=[2, 2])",
     "[[[[-1f, 1f], [-1f, 1f]], [[-1f, -1f], [3f, 3f]]]]"}};
constexpr Example gridExamples[] = {
    {"image.grid_sample([[[[0f, 1f], [2f, 3f]]]], [[[[0f, 3f]], [[0f, 0f]]]])", "[[[[1.5f, 0f]]]]"},
    {"image.grid_sample([[[[0f, 1f], [2f, 3f]]]], [[[[0.9f, 3f]], [[-1f, -1f]]]], "
     "method=\"nearest\", padding_mode=\"border\")",
     "[[[[1f, 1f]]]]"}};
constexpr Example roiExamples[] = {
    {"vision.roi_align([[[[0f, 1f], [2f, 3f]]]], [[0f, 0f, 0f, 1f, 1f]], pooled_size=[1, 1], "
     "spatial_scale=1f, attrs_type_key=\"relay.attrs.ROIAlignAttrs\")",
     "[[[[1.5f]]]]"}};

/// The grid is linear in the matrix; its factors are the coordinates of the regular grid.
void affineGradient(GradientCall& d) {
  runtime::Tensor identity(runtime::Float32, {1, 2, 3});
  std::ranges::copy(std::array{1.f, 0.f, 0.f, 0.f, 1.f, 0.f}, identity.elements<float>().begin());
  Term grid = d.call("image.affine_grid", {d.constant(identity)}, sameAttributes(d));
  auto part = [&](int64_t i) {
    Term coordinate = castTo(sliced(grid, 1, i, i + 1), d.cotangent().dtype());
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
    {.name = "vision.roi_align",
     .doc = "Cuts regions out of pictures and resamples them to one size.",
     .details =
         "Regions times `spatial_scale` are at least one element wide and high; each bin "
         "averages (or takes the largest of) bilinear samples; samples more than one element "
         "outside the picture are zero.",
     .operands = roiOperands,
     .attributes = roiAttributes,
     .attributesKey = "relay.attrs.ROIAlignAttrs",
     .relation = roiAlignRelation,
     .compute = computeRoiAlign,
     .gradient = scatters,
     .examples = roiExamples,
     .unregisteredAttributes = true},
};

} // namespace

OperatorFamily samplingFamily() {
  return rows;
}

} // namespace stdlib
