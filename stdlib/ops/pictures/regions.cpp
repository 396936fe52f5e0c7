// Cutting regions out of pictures: image.crop_and_resize, vision.roi_pool.
//
// Boxes of crop_and_resize are (top, left, bottom, right) from 0 to 1, between the centres of the
// outer elements; regions of roi_pool are (picture, left, top, right, bottom) in elements before
// scaling, both ends included.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/layout.h"
#include "stdlib/ops/pictures/picture_samples.h"
#include "stdlib/ops/window.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

using runtime::DType;

constexpr DType Real = runtime::Float64;

Layout pictures() {
  return *parseLayout("NCHW");
}

std::optional<RelationResult> cropProblem(const RelationCall& call) {
  if (!isOneOf(call.attributes.text("method"), {"bilinear", "nearest_neighbor", "nearest"}))
    return choiceFailure(call, "method", "`bilinear` or `nearest_neighbor`");
  Dims boxes = call.shape(1);
  if (boxes.size() != 2 || cannotBe(call, boxes[1], 4))
    return call.failedAt(1, words("the boxes must have the shape (count, 4), but they are "
                                  "`{}`",
                                  call.operands[1]));
  if (call.rank(2) != 1 || call.differ(boxes[0], call.shape(2)[0]) || !call.dtype(2).isInteger())
    return call.failedAt(2, words("there must be one integer per box of `{}`, but they are "
                                  "`{}`",
                                  call.operands[1], call.operands[2]));
  return std::nullopt;
}

RelationResult cropRelation(const RelationCall& call) {
  if (auto problem = cropProblem(call))
    return *problem;
  Layout canonical = pictures();
  auto layout = readLayout(call.attributes, "layout", canonical, canonical);
  if (!layout)
    return call.failed(layout.failure());
  auto shape = convertShape(call.types, *layout, canonical, call.shape(0));
  if (!shape)
    return call.failedAt(0, shape.failure());
  auto size = shapeAttribute(call, "crop_size");
  if (!size || size->size() != 2)
    return call.failed("`crop_size` must hold a height and a width");
  for (size_t i = 0; i < 2; ++i)
    if ((*shape)[2 + i]->isConstant(0) && !(*size)[i]->isConstant(0))
      return call.failedAt(0, fmt::format("the pictures, of shape {}, have no elements to read",
                                          shapeText(call.shape(0))));
  std::vector<const Dim*> cropped{call.shape(1)[0], (*shape)[1], (*size)[0], (*size)[1]};
  auto output = tiledShape(call.types, canonical, *layout, cropped);
  if (!output)
    return call.failed(output.failure());
  RelationResult result =
      call.solved(*output, call.attributes.dtype("out_dtype").value_or(call.dtype(0)));
  for (size_t i = 0; i < 2; ++i)
    requireAtLeast(result, (*shape)[2 + i], (*size)[i]->isConstant(0) ? 0 : 1);
  return result;
}

/// Where element `at` of `count` along one side of a box from `start` to `end` is read.
template <typename Value>
Value cropCoordinate(const Value& at, int64_t count, const Value& start, const Value& end,
                     const Value& extent) {
  Value last = extent - 1.0;
  if (count == 1)
    return (start + end) / 2.0 * last;
  Value step = (end - start) * last / double(count - 1);
  return start * last + at * step;
}

/// What is read around a position along one side.
template <typename Value>
Taps<Value> cropTaps(std::string_view method, const Value& at, const Value& extent) {
  return method == "bilinear" ? linearTaps(at, extent) : Taps<Value>{{roundOf(at)}};
}

template <typename Value>
Value isInPicture(const Value& at, const Value& extent) {
  return at >= 0.0 && at <= extent - 1.0;
}

void computeCrop(ComputeCall& call) {
  TensorHandle data = call.input(0), boxes = call.input(1), items = call.input(2);
  const Attributes& attributes = call.attributes();
  Layout canonical = pictures();
  Layout layout = *readLayout(attributes, "layout", canonical, canonical);
  Extents from = convertExtents(layout, canonical, data.shape());
  std::vector<int64_t> size = attributes.integers("crop_size");
  Scalar outside = constantOf(call, call.outputDType(), attributes.real("extrapolation_value"));
  call.result([&](const Position& place) {
    Position at = convertPosition(layout, canonical, place);
    auto side = [&](int64_t i) { return cast(boxes({at[0], call.integer(i)}), Real); };
    Scalar item = cast(items({at[0]}), runtime::Int64), isInside = call.number(runtime::Bool, 1);
    std::vector<Taps<Scalar>> taps;
    for (size_t i = 0; i < 2; ++i) {
      Scalar extent = cast(from[2 + i], Real);
      Scalar position = cropCoordinate(cast(at[2 + i], Real), size[i], side(int64_t(i)),
                                       side(int64_t(i) + 2), extent);
      taps.push_back(cropTaps(attributes.text("method"), position, extent));
      isInside = isInside && isInPicture(position, extent);
    }
    auto read = [&](size_t row, size_t column) {
      Position where{item, at[1], cast(taps[0].places[row], runtime::Int64),
                     cast(taps[1].places[column], runtime::Int64)};
      return cast(data(convertPosition(canonical, layout, where)), Real);
    };
    auto line = [&](size_t row) {
      return read(row, 0) * taps[1].weights[0] + read(row, 1) * taps[1].weights[1];
    };
    Scalar value = taps[0].weights.empty()
                       ? read(0, 0)
                       : line(0) * taps[0].weights[0] + line(1) * taps[0].weights[1];
    return select(isInside, cast(value, call.outputDType()), outside);
  });
}

/// A vector of numbers along dimension `axis` of a tensor of rank 3.
Term factors(GradientCall& d, int64_t count, size_t axis, const std::function<double(double)>& at) {
  runtime::Tensor tensor(Real, {count});
  for (int64_t i = 0; i < count; ++i)
    tensor.elements<double>()[size_t(i)] = at(double(i));
  return alongAxis(d.constant(tensor), axis, 3);
}

void cropGradient(GradientCall& d) {
  Term data = d.operand(0), boxes = d.operand(1);
  std::string_view method = d.attributes().text("method");
  Layout layout = *readLayout(d.attributes(), "layout", pictures(), pictures());
  Layout channelsLast = *parseLayout("NHWC");
  Term pictures =
      inLayout(castTo(data, wideFloat(data.dtype(), d.cotangent().dtype())), layout, channelsLast);
  Term cotangent = inLayout(d.cotangent(), layout, channelsLast);
  std::vector<int64_t> size = d.attributes().integers("crop_size");
  std::vector<Taps<Term>> taps;
  std::vector<Term> extents;
  std::optional<Term> isInside;
  for (size_t i = 0; i < 2; ++i) {
    auto side = [&](size_t column) {
      return alongAxis(castTo(partAt(boxes, int64_t(column), 1), Real), 0, 3);
    };
    extents.push_back(castTo(extentOf(pictures, 1 + i), Real));
    Term numbers = factors(d, size[i], 1 + i, [](double at) { return at; });
    Term at = cropCoordinate(numbers, size[i], side(i), side(i + 2), extents[i]);
    taps.push_back(cropTaps(method, at, extents[i]));
    if (method == "bilinear")
      taps.back() = withSlopes(taps.back());
    Term isIn = isInPicture(at, extents[i]);
    isInside = isInside ? *isInside && isIn : isIn;
  }
  Term items = alongAxis(castTo(d.operand(2), runtime::Int64), 0, 3);
  PictureSamples samples = samplesOf(pictures, items, taps, isInside);
  if (d.wants(0))
    give(d, 0,
         castTo(inLayout(toPictures(samples, cotangent), channelsLast, layout), data.dtype()));
  if (!d.wants(1) || method != "bilinear")
    return;
  std::vector<Term> starts, ends, given = toPositions(samples, cotangent);
  for (size_t i = 0; i < 2; ++i) {
    auto part = [&](double at) { return size[i] == 1 ? 0.5 : at / double(size[i] - 1); };
    Term along = given[i] * (extents[i] - 1.0);
    Term later = factors(d, size[i], 1 + i, part);
    starts.push_back(sum(along * (1.0 - later), {1, 2}));
    ends.push_back(sum(along * later, {1, 2}));
  }
  give(d, 1, castTo(stacked({starts[0], starts[1], ends[0], ends[1]}, 1), boxes.dtype()));
}

RelationResult roiPoolRelation(const RelationCall& call) {
  if (call.attributes.text("layout") != "NCHW")
    return choiceFailure(call, "layout", "`NCHW`");
  if (call.rank(0) != 4)
    return call.failedAt(
        0, words("the data must have 4 dimensions, but it is `{}`", call.operands[0]));
  Dims rois = call.shape(1);
  if (rois.size() != 2 || cannotBe(call, rois[1], 5))
    return call.failedAt(1, words("the regions must have the shape (count, 5), but they are "
                                  "`{}`",
                                  call.operands[1]));
  auto size = shapeAttribute(call, "pooled_size");
  if (!size || size->size() != 2 || (*size)[0]->value == 0 || (*size)[1]->value == 0)
    return call.failed("`pooled_size` must hold a positive height and width");
  return call.solved(
      call.types.tensor({rois[0], call.shape(0)[1], (*size)[0], (*size)[1]}, call.dtype(0)));
}

/// The elements of one side of each region, cut into bins: those of bin `i` are first(region, i) up
/// to, not including, end(region, i).
struct Bins {
  TensorHandle first, end;
};

/// Cuts the elements from side(region, from) to side(region, to), both included, into bins within
/// 0 .. extent.
template <typename Side>
Bins binsOf(ComputeCall& call, const Side& side, int64_t from, int64_t to, Scalar count,
            Scalar extent) {
  // Kept from counts that float arithmetic decides: a bin border that is whole but for rounding.
  constexpr double slack = 1e-5;
  Extents shape{call.input(1).extent(0), count};
  auto borders = [&](ScalarFunction rounded, double ends, double shift) {
    return call.define(shape, [&](const Position& at) {
      Scalar start = side(at[0], from), length = side(at[0], to) - start + 1.0;
      Scalar width = maximum(length, number(length, 1)) / cast(count, Real);
      Scalar place = start + apply(rounded, {(cast(at[1], Real) + ends) * width + shift});
      place = minimum(maximum(place, number(place, 0)), cast(extent, Real));
      return cast(place, runtime::Int64);
    });
  };
  return {borders(ScalarFunction::Floor, 0, slack), borders(ScalarFunction::Ceil, 1, -slack)};
}

/// The picture of a region; outside of the batch, which is a fault, when a side is infinite.
template <typename Side>
Scalar pictureOf(const TensorHandle& rois, const Side& side, Scalar region) {
  Scalar isFinite = apply(ScalarFunction::IsFinite, {side(region, 1)});
  for (int64_t i = 2; i <= 4; ++i)
    isFinite = isFinite && apply(ScalarFunction::IsFinite, {side(region, i)});
  Scalar picture = cast(rois({region, number(region, 0)}), Real);
  picture = apply(ScalarFunction::Floor, {picture});
  return cast(select(isFinite, picture, number(picture, -1)), runtime::Int64);
}

/// What the pool and the places of its maxima share. Rows are joined first, then columns, so that
/// no element is looked at for every bin.
struct RegionBins {
  ComputeCall& call;
  TensorHandle data = call.input(0);
  Extents size = call.outputShape();
  Scalar height = data.extent(2), width = data.extent(3), lowest = lowestOf(call, data.dtype());
  Bins down, across;
  TensorHandle pictures;

  explicit RegionBins(ComputeCall& of) : call(of) {
    TensorHandle rois = call.input(1);
    double scale = call.attributes().real("spatial_scale");
    auto side = [&](Scalar region, int64_t i) {
      return roundOf(cast(rois({region, call.integer(i)}), Real) * scale);
    };
    down = binsOf(call, side, 2, 4, size[2], height);
    across = binsOf(call, side, 1, 3, size[3], width);
    pictures =
        call.define({size[0]}, [&](const Position& at) { return pictureOf(rois, side, at[0]); });
  }

  static Scalar isIn(const Bins& bins, const Position& bin, Scalar place) {
    return place >= bins.first(bin) && place < bins.end(bin);
  }
  /// Whether bin `at` of the result has the row or the column.
  Scalar hasRow(const Position& at, Scalar row) const { return isIn(down, {at[0], at[2]}, row); }
  Scalar hasColumn(const Position& at, Scalar column) const {
    return isIn(across, {at[0], at[3]}, column);
  }
  Scalar element(const Position& at, Scalar row, Scalar column) const {
    return data({pictures({at[0]}), at[1], row, column});
  }

  /// The greatest element of each column within the rows of a bin: region, channel, bin down,
  /// column.
  TensorHandle columns() const {
    return call.define({size[0], size[1], size[2], width}, [&](const Position& at) {
      return call.maximumOver({height}, [&](const Position& row) {
        return select(hasRow(at, row[0]), element(at, row[0], at[3]), lowest);
      });
    });
  }
  Scalar greatest(const TensorHandle& columns, const Position& at) const {
    return call.maximumOver({width}, [&](const Position& k) {
      return select(hasColumn(at, k[0]), columns({at[0], at[1], at[2], k[0]}), lowest);
    });
  }
};

void computeRoiPool(ComputeCall& call) {
  RegionBins bins(call);
  TensorHandle columns = bins.columns();
  call.result([&](const Position& at) {
    Position row{at[0], at[2]}, column{at[0], at[3]};
    Scalar isEmpty = bins.down.first(row) >= bins.down.end(row) ||
                     bins.across.first(column) >= bins.across.end(column);
    Scalar most = bins.greatest(columns, at);
    return select(isEmpty, number(most, 0), most);
  });
}

RelationResult roiPoolPlacesRelation(const RelationCall& call) {
  RelationResult result = roiPoolRelation(call);
  if (result.outcome == RelationResult::Outcome::Solved)
    result.output = call.types.tensor(result.output->shape, runtime::Int64);
  return result;
}

void computeRoiPoolPlaces(ComputeCall& call) {
  RegionBins bins(call);
  TensorHandle columns = bins.columns();
  Scalar none = bins.height * bins.width;
  TensorHandle most =
      call.define(bins.size, [&](const Position& at) { return bins.greatest(columns, at); });
  // The first place in each column of what is greatest there, as a row-major place in the picture.
  TensorHandle first = call.define(columns.shape(), [&](const Position& at) {
    return call.reduce(Combiner::Minimum, {bins.height}, [&](const Position& row) {
      Scalar isMost = bins.hasRow(at, row[0]) && bins.element(at, row[0], at[3]) == columns(at);
      return select(isMost, row[0] * bins.width + at[3], none);
    });
  });
  call.result([&](const Position& at) {
    Scalar place = call.reduce(Combiner::Minimum, {bins.width}, [&](const Position& k) {
      Position column{at[0], at[1], at[2], k[0]};
      return select(bins.hasColumn(at, k[0]) && columns(column) == most(at), first(column), none);
    });
    Scalar before = (bins.pictures({at[0]}) * bins.data.extent(1) + at[1]) * none;
    return select(place < none, before + place, call.integer(-1));
  });
}

/// Each bin's cotangent goes to the place of its maximum.
void roiPoolGradient(GradientCall& d) {
  Term data = d.operand(0);
  DType wide = wideFloat(data.dtype(), data.dtype());
  Term places = d.call("vision.roi_pool_places", {data, d.operand(1)}, sameAttributes(d));
  Term elements = expandDims(reshaped(castTo(data, wide), {-1}), 1);
  Term table = padded(elements, {{1, 0}, {0, 0}});
  Term sums = addedRows(expandDims(castTo(d.cotangent(), wide), 4), places + 1.0, table);
  give(d, 0, castTo(reshapedLike(sliced(sums, 0, 1, toEnd), data), data.dtype()));
}

constexpr OperandRow cropOperands[] = {
    {"data", "the pictures"},
    {"boxes", "rows of (top, left, bottom, right), from 0 to 1"},
    {"box_indices", "the picture of each box"},
};
constexpr OperandRow poolOperands[] = {
    {"data", "the pictures"},
    {"rois", "rows of (picture, left, top, right, bottom)"},
};

constexpr AttributeRow cropAttributes[] = {
    AttributeRow{"crop_size", AttributeKind::IntList, "None", "the height and width of the results"}
        .ofLength(2),
    {"layout", AttributeKind::String, "\"NCHW\"", "the order of the dimensions"},
    {"method", AttributeKind::String, "\"bilinear\"", "`bilinear` or `nearest_neighbor`"},
    {"extrapolation_value", AttributeKind::Float, "0f", "what stands outside a picture"},
    {"out_dtype", AttributeKind::DType, "\"\"",
     "the element type of the result; empty means that of the data"},
};
constexpr AttributeRow poolAttributes[] = {
    AttributeRow{"pooled_size", AttributeKind::IntList, "", "the height and width of the results"}
        .ofLength(2),
    {"spatial_scale", AttributeKind::Float, "", "the factor from regions to elements"},
    {"layout", AttributeKind::String, "\"NCHW\"", "the layout of the data, `NCHW`"},
};

constexpr NoGradient holdsPlaces = {"the result holds positions"};

constexpr Example cropExamples[] = {
    {"image.crop_and_resize([[[[0f, 1f], [2f, 3f]]]], [[0f, 0f, 1f, 1f]], [0], crop_size=[1, 3])",
     "[[[[1f, 1.5f, 2f]]]]"},
    {"image.crop_and_resize([[[[0f, 1f], [2f, 3f]]]], [[0f, 0.6f, 2f, 0.6f]], [0], crop_size=[2, "
     "1], method=\"nearest_neighbor\", extrapolation_value=9f)",
     "[[[[1f], [9f]]]]"},
};
constexpr GradientExample cropGradients[] = {
    {"image.crop_and_resize([[[[0f, 1f], [2f, 4f]]]], [[0f, 0f, 1f, 1f]], [0], crop_size=[1, 1])",
     "[[[[4f]]]]", "([[[[1f, 1f], [1f, 1f]]]], [[5f, 3f, 5f, 3f]])"},
};
constexpr Example poolExamples[] = {
    {"vision.roi_pool([[[[0f, 1f, 2f], [3f, 4f, 5f]]]], [[0f, 0f, 0f, 3f, 1f]], pooled_size=[1, "
     "2], spatial_scale=0.5f, attrs_type_key=\"relay.attrs.ROIPoolAttrs\")",
     "[[[[4f, 5f]]]]"},
};

constexpr GradientExample poolGradients[] = {
    {"vision.roi_pool([[[[0f, 7f, 2f], [7f, 4f, 5f]]]], [[0f, 0f, 0f, 3f, 1f], [0f, 1f, 0f, 1f, "
     "0f]], pooled_size=[1, 1], spatial_scale=1f, attrs_type_key=\"relay.attrs.ROIPoolAttrs\")",
     "[[[[1f]]], [[[10f]]]]", "[[[[0f, 11f, 0f], [0f, 0f, 0f]]]]"},
};
constexpr Example placesExamples[] = {
    {"vision.roi_pool_places([[[[0f, 1f, 2f], [3f, 4f, 5f]]]], [[0f, 0f, 0f, 3f, 1f]], "
     "pooled_size=[1, 2], spatial_scale=0.5f, attrs_type_key=\"relay.attrs.ROIPoolAttrs\")",
     "[[[[4i64, 5i64]]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "image.crop_and_resize",
        .doc = "Cuts boxes out of pictures and interpolates them to one size.",
        .details =
            "The ends of a box are the centres of the outer elements of the result; a "
            "result one element high or wide is read at the middle of the box. With "
            "`nearest_neighbor` the boxes have no gradient: the result is piecewise constant "
            "in them.",
        .operands = cropOperands,
        .attributes = cropAttributes,
        .attributesKey = "relay.attrs.CropAndResizeAttrs",
        .relation = cropRelation,
        .compute = computeCrop,
        .gradient = GradientRule{cropGradient, cropGradients},
        .examples = cropExamples,
    },
    {
        .name = "vision.roi_pool",
        .doc = "The greatest elements of regions of pictures, cut into bins.",
        .details = "The sides of a region times `spatial_scale` are rounded to whole elements; "
                   "bins may overlap by one. An empty bin gives 0. Of equal greatest elements the "
                   "first one, in row-major order, gets the gradient; rounded regions have none.",
        .operands = poolOperands,
        .attributes = poolAttributes,
        .attributesKey = "relay.attrs.ROIPoolAttrs",
        .relation = roiPoolRelation,
        .compute = computeRoiPool,
        .gradient = GradientRule{roiPoolGradient, poolGradients},
        .examples = poolExamples,
        .unregisteredAttributes = true,
    },
    {
        .name = "vision.roi_pool_places",
        .doc = "Where the greatest elements of vision.roi_pool stand.",
        .details = "The row-major place in the data, of equal elements in a bin the first one, or "
                   "-1 for an empty bin.",
        .operands = poolOperands,
        .attributes = poolAttributes,
        .attributesKey = "relay.attrs.ROIPoolAttrs",
        .relation = roiPoolPlacesRelation,
        .compute = computeRoiPoolPlaces,
        .gradient = holdsPlaces,
        .examples = placesExamples,
        .unregisteredAttributes = true,
    },
};

} // namespace

OperatorFamily regionsFamily() {
  return rows;
}

} // namespace stdlib
