// Regions of pictures resampled to one size: vision.roi_align.
//
// A region is cut into bins, and a bin reads samples at equal distances. How many that are may
// depend on the region; of those that lie far outside the picture, which are zero, only a few are
// looked at.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/layout.h"
#include "stdlib/ops/pictures/picture_samples.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace stdlib {

namespace {

using namespace lang;

constexpr runtime::DType Real = runtime::Float64;

RelationResult roiAlignRelation(const RelationCall& call) {
  std::string_view layout = call.attributes.text("layout");
  if (!isOneOf(layout, {"NCHW", "NHWC"}))
    return choiceFailure(call, "layout", "`NCHW` or `NHWC`");
  if (!isOneOf(call.attributes.text("mode"), {"avg", "max"}))
    return choiceFailure(call, "mode", "`avg` or `max`");
  Dims rois = call.shape(1);
  if (call.rank(0) != 4)
    return call.failedAt(
        0, words("the data must have 4 dimensions, but it is `{}`", call.operands[0]));
  if (rois.size() != 2 || cannotBe(call, rois[1], 5))
    return call.failedAt(1, words("the regions must have the shape (count, 5), but they are "
                                  "`{}`",
                                  call.operands[1]));
  if (!call.dtype(0).isFloat())
    return call.failedAt(
        0, words("the data must be floating point, but it is `{}`", call.operands[0]));
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

/// The samples along one side of a region, in float64: where the region begins, how long a bin is,
/// how many samples it has, and the extent of the picture.
template <typename Value>
struct BinSide {
  Value start, length, count, extent;

  /// Where a sample of a bin lies, both by their numbers.
  Value at(const Value& bin, const Value& number) const {
    return start + (bin + (number + 0.5) / count) * length;
  }
  /// The number of a sample of a bin before which none is near.
  Value firstNear(const Value& bin) const {
    Value before = (-1.0 - start) / length - bin;
    return maximum(floorOf(before * count) - 1.0, number(before, 0));
  }
};

/// Samples further out than this are zero.
template <typename Value>
Value isNear(const Value& place, const Value& extent) {
  return place >= -1.0 && place <= extent;
}

template <typename Value>
Value inside(const Value& place, const Value& extent) {
  return minimum(maximum(place, number(place, 0)), extent - 1.0);
}

/// The length of a bin of a region from `start` to `end`.
template <typename Value>
Value binLength(const Value& start, const Value& end, double bins) {
  Value whole = end - start;
  return maximum(whole, number(whole, 1)) / bins;
}

/// A bound for the samples of a bin that are near the picture when their number is not given: they
/// are at least half an element apart, or alone.
template <typename Value>
Value mostNear(const Value& extent) {
  return extent * 2.0 + 8.0;
}

/// The samples of all regions along one side of the pictures.
struct Samples {
  Scalar extent;
  /// By region: where it begins, how long a bin is, and how many samples it has, as many as it is
  /// long when the attribute says so.
  TensorHandle start, length, count;

  BinSide<Scalar> of(Scalar region) const {
    return {start({region}), length({region}), cast(count({region}), Real), cast(extent, Real)};
  }
  Scalar at(Scalar region, Scalar bin, Scalar i) const {
    return of(region).at(cast(bin, Real), cast(i, Real));
  }
  Scalar isNear(Scalar place) const { return stdlib::isNear(place, cast(extent, Real)); }
  Scalar inside(Scalar place) const { return stdlib::inside(place, cast(extent, Real)); }
};

/// The number of samples that each bin has along a side, or nothing when regions decide it.
std::optional<int64_t> givenSamples(const Attributes& attributes) {
  int64_t ratio = attributes.integer("sample_ratio");
  return ratio > 0 ? std::optional(ratio) : std::nullopt;
}

/// The samples along the side whose ends are columns `from` and `from + 2` of the regions.
Samples samplesAlong(ComputeCall& call, int64_t from, int64_t bins, Scalar extent) {
  TensorHandle rois = call.input(1);
  double scale = call.attributes().real("spatial_scale");
  auto given = givenSamples(call.attributes());
  auto side = [=, &call](const Position& region, int64_t column) {
    return cast(rois({region[0], call.integer(column)}), Real) * scale;
  };
  Extents each{rois.extent(0)};
  Samples samples{extent, {}, {}, {}};
  samples.start = call.define(each, [&](const Position& region) { return side(region, from); });
  samples.length = call.define(each, [&](const Position& region) {
    return binLength(side(region, from), side(region, from + 2), double(bins));
  });
  samples.count = call.define(each, [&](const Position& region) {
    return given ? call.integer(*given) : cast(ceilOf(samples.length(region)), runtime::Int64);
  });
  return samples;
}

/// The number of a sample, and whether the bin has it.
struct Sample {
  Scalar number, exists;
};

/// Counts through the samples of a bin. When their number is known they are counted from the first,
/// else only those near the picture are, from a first one that is near.
struct SampleLoop {
  const Samples* samples;
  std::optional<int64_t> given;

  Scalar extent(ComputeCall& call) const {
    return given ? call.integer(*given) : mostNear(samples->extent);
  }
  Scalar first(Scalar region, Scalar bin) const {
    return cast(samples->of(region).firstNear(cast(bin, Real)), runtime::Int64);
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
    auto rows = linearTaps(y, cast(sides[0].extent, Real));
    auto columns = linearTaps(x, cast(sides[1].extent, Real));
    auto read = [&](size_t r, size_t c) {
      Scalar value =
          element(cast(rows.places[r], runtime::Int64), cast(columns.places[c], runtime::Int64));
      return value * columns.weights[c];
    };
    auto line = [&](size_t r) { return (read(r, 0) + read(r, 1)) * rows.weights[r]; };
    Scalar sample = line(0) + line(1);
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
  std::vector<int64_t> size = attributes.integers("pooled_size");
  Samples sides[] = {samplesAlong(call, 2, size[0], from[2]),
                     samplesAlong(call, 1, size[1], from[3])};
  auto given = givenSamples(attributes);
  SampleLoop loops[] = {{&sides[0], given}, {&sides[1], given}};
  // A region that is not finite names no picture, which is a fault.
  TensorHandle pictures = call.define({rois.extent(0)}, [&](const Position& region) {
    Scalar number = floorOf(cast(rois({region[0], call.integer(0)}), Real));
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

/// What the rule computes with: pictures and cotangents with channels last, and for each side what
/// regions say of it. A cell is a bin of a region; cells are numbered by region, bin down and bin
/// across.
struct AlignedRegions {
  GradientCall& d;
  std::vector<int64_t> size;
  std::optional<int64_t> given;
  Term pictures, cotangent, rois;
  /// The numbers of the cells, `[region, bin down, bin across]`.
  Term cells;
  /// For both sides, by cell, what its region says and the number of its bin.
  std::vector<BinSide<Term>> sides = {};
  std::vector<Term> bins = {};

  /// A vector with an element for each cell, of a tensor that broadcasts to the cells.
  Term perCell(const Term& a) const {
    return reshaped(broadcastLike(a, castTo(cells, a.dtype())), {-1});
  }
  Term perRegion(const Term& a) const { return perCell(alongAxis(a, 0, 3)); }

  Term start(size_t way) const { return end(way, 2); }
  Term end(size_t way, int64_t column = 4) const {
    return partAt(rois, column - int64_t(way), 1) * d.attributes().real("spatial_scale");
  }
  void addSide(size_t way) {
    Term length = binLength(start(way), end(way), double(size[way]));
    Term count = given ? onesLike(length) * double(*given) : ceilOf(length);
    sides.push_back({perRegion(start(way)), perRegion(length), perRegion(count),
                     castTo(extentOf(pictures, 1 + way), Real)});
    std::vector<int64_t> numbers(size_t(size[way]), 0);
    std::iota(numbers.begin(), numbers.end(), 0);
    bins.push_back(perCell(castTo(alongAxis(integers(d, numbers), 1 + way, 3), Real)));
  }
};

AlignedRegions alignedRegions(GradientCall& d, runtime::DType wide) {
  Layout layout = *parseLayout(d.attributes().text("layout")), last = *parseLayout("NHWC");
  std::vector<int64_t> size = d.attributes().integers("pooled_size");
  std::vector<int64_t> bins(size_t(size[0] * size[1]));
  std::iota(bins.begin(), bins.end(), 0);
  Term region = alongAxis(positionsAlong(d.operand(1), 0), 0, 3) * double(size[0] * size[1]);
  Term cells = region + expandDims(reshaped(integers(d, bins), {size[0], size[1]}), 0);
  AlignedRegions regions{d,
                         size,
                         givenSamples(d.attributes()),
                         inLayout(castTo(d.operand(0), wide), layout, last),
                         inLayout(castTo(d.cotangent(), wide), layout, last),
                         castTo(d.operand(1), Real),
                         cells};
  regions.addSide(0);
  regions.addSide(1);
  return regions;
}

/// All samples in one list: of each the number of its cell, and along both sides its own number,
/// in float64.
struct SampleList {
  Term cells;
  std::vector<Term> numbers;
};

Term quotient(const Term& a, const Term& b) {
  return a.rule().call("floor_divide", {a, b});
}

SampleList givenList(const AlignedRegions& regions) {
  int64_t given = *regions.given;
  Term cells = regions.d.call("repeat", {reshaped(regions.cells, {-1})},
                              {{"repeats", given * given}, {"axis", 0}});
  Term rest = placesLike(cells) - cells * double(given * given);
  Term down = quotient(rest, number(rest, double(given)));
  return {cells, {castTo(down, Real), castTo(rest - down * double(given), Real)}};
}

/// Which samples of each cell are near the picture along a side.
struct NearSamples {
  Term first, count;
  /// Whether there are others.
  Term leavesOut;
};

NearSamples nearSamples(const AlignedRegions& regions, size_t way) {
  const BinSide<Term>& side = regions.sides[way];
  Term first = side.firstNear(regions.bins[way]), rest = side.count - first;
  Term most = mostNear(side.extent), count = maximum(minimum(rest, most), number(rest, 0));
  return {first, castTo(count, runtime::Int64), side.count > count};
}

SampleList nearList(const AlignedRegions& regions) {
  GradientCall& d = regions.d;
  NearSamples down = nearSamples(regions, 0), across = nearSamples(regions, 1);
  Term counts = down.count * across.count, ends = runningSum(counts, 0);
  Term zero = d.number(runtime::Int64, 0), one = d.number(runtime::Int64, 1);
  Term all = d.call("arange", {zero, sumOfAll(counts), one}, {{"dtype", "int64"}});
  Term cells = d.call("searchsorted", {ends, all}, {{"right", true}, {"dtype", "int64"}});
  Term rest = all - take(ends - counts, cells, 0), width = take(across.count, cells, 0);
  Term row = quotient(rest, width);
  return {cells,
          {castTo(row, Real) + take(down.first, cells, 0),
           castTo(rest - row * width, Real) + take(across.first, cells, 0)}};
}

/// The samples of a list along one side.
struct ListSide {
  Term place, isNear, isHeld;
  /// How far the place is from the start of the region, in bins.
  Term bins;
  Taps<Term> taps;
};

ListSide listSide(const AlignedRegions& regions, const SampleList& list, size_t way) {
  const BinSide<Term>& cell = regions.sides[way];
  auto of = [&](const Term& a) { return take(a, list.cells, 0); };
  BinSide<Term> side{of(cell.start), of(cell.length), of(cell.count), cell.extent};
  Term bin = of(regions.bins[way]), place = side.at(bin, list.numbers[way]);
  Term moved = inside(place, side.extent);
  return {place, isNear(place, side.extent), moved == place,
          bin + (list.numbers[way] + 0.5) / side.count, withSlopes(linearTaps(moved, side.extent))};
}

/// The cotangents of the samples of averages: each bin's, over the number of its samples.
Term averageCotangents(const AlignedRegions& regions, const SampleList& list) {
  Term counts = regions.sides[0].count * regions.sides[1].count;
  Term rows = asTable(regions.cotangent);
  return take(rows / expandDims(castTo(counts, rows.dtype()), 1), list.cells, 0);
}

/// The cotangents of the samples of maxima: the greatest samples share that of their bin. Samples
/// that are left out are zeros without a cotangent.
Term maximumCotangents(const AlignedRegions& regions, const SampleList& list, const Term& values) {
  Term rows = asTable(regions.cotangent);
  Term most = onesLike(rows) * std::numeric_limits<double>::lowest();
  if (!regions.given) {
    NearSamples down = nearSamples(regions, 0), across = nearSamples(regions, 1);
    Term leavesOut = regions.d.call("logical_or", {down.leavesOut, across.leavesOut});
    most = unlessMasked(expandDims(leavesOut, 1), most);
  }
  most = regions.d.call("scatter_nd", {most, expandDims(list.cells, 0), values}, {{"mode", "max"}});
  Term isMost = values == take(most, list.cells, 0);
  Term sharing = addedRows(castTo(isMost, rows.dtype()), list.cells, rows);
  Term share = rows / maximum(sharing, number(sharing, 1));
  return maskedBy(isMost, take(share, list.cells, 0));
}

/// The cotangent of the regions from those of the places of the samples.
Term byRegions(const AlignedRegions& regions, const SampleList& list,
               const std::vector<ListSide>& sides, const std::vector<Term>& byPlace) {
  std::vector<Term> parts;
  for (size_t way = 0; way < 2; ++way) {
    Term moved = maskedBy(sides[way].isHeld, byPlace[way]);
    parts.push_back(moved);
    parts.push_back(moved * sides[way].bins);
  }
  Term perRegion = number(list.cells, double(regions.size[0] * regions.size[1]));
  Term sums =
      addedRows(stacked(parts, 1), quotient(list.cells, perRegion), sliced(regions.rois, 1, 0, 4));
  std::vector<Term> starts, ends;
  for (size_t way = 0; way < 2; ++way) {
    Term isLong = regions.end(way) - regions.start(way) > 1.0;
    Term byLength = partAt(sums, int64_t(way) * 2 + 1, 1) / double(regions.size[way]);
    ends.push_back(maskedBy(isLong, byLength));
    starts.push_back(partAt(sums, int64_t(way) * 2, 1) - ends[way]);
  }
  Term columns = stacked({zerosLike(starts[0]), starts[1], starts[0], ends[1], ends[0]}, 1);
  return columns * regions.d.attributes().real("spatial_scale");
}

void roiAlignGradient(GradientCall& d) {
  bool isMaximum = d.attributes().text("mode") == "max";
  auto given = d.operand(0).dtype();
  AlignedRegions regions = alignedRegions(d, isMaximum ? Real : wideFloat(given, given));
  SampleList list = regions.given ? givenList(regions) : nearList(regions);
  std::vector<ListSide> sides{listSide(regions, list, 0), listSide(regions, list, 1)};
  Term numbers = castTo(floorOf(partAt(regions.rois, 0, 1)), runtime::Int64);
  Term picture = take(regions.perRegion(numbers), list.cells, 0);
  PictureSamples samples = samplesOf(regions.pictures, picture, {sides[0].taps, sides[1].taps},
                                     sides[0].isNear && sides[1].isNear);
  Term cotangent = isMaximum ? maximumCotangents(regions, list, valuesOf(samples))
                             : averageCotangents(regions, list);
  Layout layout = *parseLayout(d.attributes().text("layout"));
  Term byData = inLayout(toPictures(samples, cotangent), *parseLayout("NHWC"), layout);
  give(d, 0, castTo(byData, given));
  if (d.wants(1))
    give(d, 1,
         castTo(byRegions(regions, list, sides, toPositions(samples, cotangent)),
                d.operand(1).dtype()));
}

constexpr GradientExample roiGradients[] = {
    {"vision.roi_align([[[[0f, 1f], [2f, 4f]]]], [[0f, 0f, 0f, 1f, 1f]], pooled_size=[1, 1], "
     "spatial_scale=1f, attrs_type_key=\"relay.attrs.ROIAlignAttrs\")",
     "[[[[4f]]]]", "([[[[1f, 1f], [1f, 1f]]]], [[0f, 6f, 10f, 0f, 0f]])"},
    {"vision.roi_align([[[[0f, 1f], [2f, 3f]]]], [[0f, 0f, 0f, 1f, 1f]], pooled_size=[1, 1], "
     "spatial_scale=1f, sample_ratio=2, mode=\"max\", "
     "attrs_type_key=\"relay.attrs.ROIAlignAttrs\")",
     "[[[[16f]]]]", "([[[[1f, 3f], [3f, 9f]]]], [[0f, 16f, 32f, 0f, 0f]])"},
};

constexpr OperandRow roiOperands[] = {{"data", "the pictures"},
                                      {"rois", "rows of (batch item, left, top, right, bottom)"}};

constexpr AttributeRow roiAttributes[] = {
    AttributeRow{"pooled_size", AttributeKind::IntList, "", "the height and width of the result"}
        .ofLength(2),
    {"spatial_scale", AttributeKind::Float, "", "the factor from regions to elements"},
    {"sample_ratio", AttributeKind::Int, "-1",
     "how many samples a bin has each way; one per element when not positive"},
    {"layout", AttributeKind::String, "\"NCHW\"", "`NCHW` or `NHWC`"},
    {"mode", AttributeKind::String, "\"avg\"", "`avg` or `max` of the samples of a bin"}};

constexpr Example roiExamples[] = {
    {"vision.roi_align([[[[0f, 1f], [2f, 3f]]]], [[0f, 0f, 0f, 1f, 1f]], pooled_size=[1, 1], "
     "spatial_scale=1f, attrs_type_key=\"relay.attrs.ROIAlignAttrs\")",
     "[[[[1.5f]]]]"},
    {"vision.roi_align([[[[0f, 1f], [2f, 3f]]]], [[0f, 0f, 0f, 2f, 2f]], pooled_size=[1, 1], "
     "spatial_scale=1f, mode=\"max\", attrs_type_key=\"relay.attrs.ROIAlignAttrs\")",
     "[[[[3f]]]]"},
    {"vision.roi_align([[[[0f], [1f]], [[2f], [3f]]]], [[0f, 0f, 0f, 2f, 2f]], pooled_size=[1, 2], "
     "spatial_scale=0.5f, sample_ratio=2, layout=\"NHWC\", "
     "attrs_type_key=\"relay.attrs.ROIAlignAttrs\")",
     "[[[[1.25f], [1.75f]]]]"}};

constexpr OperatorRow rows[] = {
    {.name = "vision.roi_align",
     .doc = "Cuts regions out of pictures and resamples them to one size.",
     .details =
         "Regions times `spatial_scale` are at least one element wide and high; each bin "
         "averages (or takes the largest of) bilinear samples; samples more than one element "
         "outside the picture are zero. Equal largest samples share the gradient. How many samples "
         "a bin "
         "has is piecewise constant in the regions.",
     .operands = roiOperands,
     .attributes = roiAttributes,
     .attributesKey = "relay.attrs.ROIAlignAttrs",
     .relation = roiAlignRelation,
     .compute = computeRoiAlign,
     .gradient = GradientRule{roiAlignGradient, roiGradients},
     .examples = roiExamples,
     .unregisteredAttributes = true},
};

} // namespace

OperatorFamily roiAlignFamily() {
  return rows;
}

} // namespace stdlib
