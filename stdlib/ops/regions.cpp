// Cutting regions out of pictures: image.crop_and_resize, vision.roi_pool.
//
// Boxes of crop_and_resize are (top, left, bottom, right) from 0 to 1, between the centres of the
// outer elements; regions of roi_pool are (picture, left, top, right, bottom) in elements before
// scaling, both ends included.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/window.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

constexpr runtime::DType Real = runtime::Float64;

Layout pictures() {
  return *parseLayout("NCHW");
}

std::optional<RelationResult> cropProblem(const RelationCall& call) {
  if (!isOneOf(call.attributes.text("method"), {"bilinear", "nearest_neighbor", "nearest"}))
    return choiceFailure(call, "method", "`bilinear` or `nearest_neighbor`");
  Dims boxes = call.shape(1);
  if (boxes.size() != 2 || cannotBe(call.types, boxes[1], 4))
    return call.failedAt(1, fmt::format("the boxes must have the shape (count, 4), but they are "
                                        "`{}`",
                                        typeText(call.operands[1])));
  if (call.rank(2) != 1 || matchDims(boxes[0], call.shape(2)[0]) == DimMatch::Different ||
      !call.dtype(2).isInteger())
    return call.failedAt(2, fmt::format("there must be one integer per box of `{}`, but they are "
                                        "`{}`",
                                        typeText(call.operands[1]), typeText(call.operands[2])));
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
Scalar cropCoordinate(Scalar at, Scalar count, Scalar start, Scalar end, Scalar extent) {
  Scalar last = cast(extent, Real) - 1.0;
  Scalar step = (end - start) * last / (cast(count, Real) - 1.0);
  return select(count == 1.0, (start + end) / 2.0 * last, start * last + cast(at, Real) * step);
}

void computeCrop(ComputeCall& call) {
  TensorHandle data = call.input(0), boxes = call.input(1), items = call.input(2);
  const Attributes& attributes = call.attributes();
  Layout canonical = pictures();
  Layout layout = *readLayout(attributes, "layout", canonical, canonical);
  Extents from = convertExtents(layout, canonical, data.shape());
  Extents to = convertExtents(layout, canonical, call.outputShape());
  bool isNearest = attributes.text("method") != "bilinear";
  Scalar outside = constantOf(call, call.outputDType(), attributes.real("extrapolation_value"));
  auto whole = [](Scalar a, Scalar extent) {
    return maximum(minimum(cast(a, runtime::Int64), extent - 1.0), number(extent, 0));
  };
  call.result([&](const Position& place) {
    Position at = convertPosition(layout, canonical, place);
    auto side = [&](int64_t i) { return cast(boxes({at[0], call.integer(i)}), Real); };
    Scalar y = cropCoordinate(at[2], to[2], side(0), side(2), from[2]);
    Scalar x = cropCoordinate(at[3], to[3], side(1), side(3), from[3]);
    Scalar item = cast(items({at[0]}), runtime::Int64);
    auto read = [&](Scalar row, Scalar column) {
      Position where{item, at[1], whole(row, from[2]), whole(column, from[3])};
      return cast(data(convertPosition(canonical, layout, where)), Real);
    };
    auto rounded = [](Scalar a) { return apply(ScalarFunction::Round, {a}); };
    auto floorOf = [](Scalar a) { return apply(ScalarFunction::Floor, {a}); };
    Scalar top = floorOf(y), left = floorOf(x), down = y - top, across = x - left;
    auto line = [&](Scalar row) {
      return read(row, left) * (1.0 - across) + read(row, left + 1.0) * across;
    };
    Scalar value = isNearest ? read(rounded(y), rounded(x))
                             : line(top) * (1.0 - down) + line(top + 1.0) * down;
    Scalar isInside =
        y >= 0.0 && x >= 0.0 && y <= cast(from[2], Real) - 1.0 && x <= cast(from[3], Real) - 1.0;
    return select(isInside, cast(value, call.outputDType()), outside);
  });
}

RelationResult roiPoolRelation(const RelationCall& call) {
  if (call.attributes.text("layout") != "NCHW")
    return choiceFailure(call, "layout", "`NCHW`");
  if (call.rank(0) != 4)
    return call.failedAt(0, fmt::format("the data must have 4 dimensions, but it is `{}`",
                                        typeText(call.operands[0])));
  Dims rois = call.shape(1);
  if (rois.size() != 2 || cannotBe(call.types, rois[1], 5))
    return call.failedAt(1, fmt::format("the regions must have the shape (count, 5), but they are "
                                        "`{}`",
                                        typeText(call.operands[1])));
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

/// Rows are joined first, then columns, so that no element is looked at for every bin.
void computeRoiPool(ComputeCall& call) {
  TensorHandle data = call.input(0), rois = call.input(1);
  double scale = call.attributes().real("spatial_scale");
  Extents size = call.outputShape();
  Scalar height = data.extent(2), width = data.extent(3), lowest = lowestOf(call, data.dtype());
  auto side = [&](Scalar region, int64_t i) {
    return apply(ScalarFunction::Round, {cast(rois({region, call.integer(i)}), Real) * scale});
  };
  Bins down = binsOf(call, side, 2, 4, size[2], height);
  Bins across = binsOf(call, side, 1, 3, size[3], width);
  TensorHandle pictures =
      call.define({size[0]}, [&](const Position& at) { return pictureOf(rois, side, at[0]); });
  auto isIn = [](const Bins& bins, const Position& bin, Scalar place) {
    return place >= bins.first(bin) && place < bins.end(bin);
  };
  TensorHandle rows = call.define({size[0], size[1], size[2], width}, [&](const Position& at) {
    return call.maximumOver({height}, [&](const Position& k) {
      Scalar element = data({pictures({at[0]}), at[1], k[0], at[3]});
      return select(isIn(down, {at[0], at[2]}, k[0]), element, lowest);
    });
  });
  call.result([&](const Position& at) {
    Position row{at[0], at[2]}, column{at[0], at[3]};
    Scalar most = call.maximumOver({width}, [&](const Position& k) {
      return select(isIn(across, column, k[0]), rows({at[0], at[1], at[2], k[0]}), lowest);
    });
    Scalar isEmpty = down.first(row) >= down.end(row) || across.first(column) >= across.end(column);
    return select(isEmpty, number(most, 0), most);
  });
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
    {"crop_size", AttributeKind::IntList, "None", "the height and width of the results"},
    {"layout", AttributeKind::String, "\"NCHW\"", "the order of the dimensions"},
    {"method", AttributeKind::String, "\"bilinear\"", "`bilinear` or `nearest_neighbor`"},
    {"extrapolation_value", AttributeKind::Float, "0f", "what stands outside a picture"},
    {"out_dtype", AttributeKind::DType, "\"\"",
     "the element type of the result; empty means that of the data"},
};
constexpr AttributeRow poolAttributes[] = {
    {"pooled_size", AttributeKind::IntList, "", "the height and width of the results"},
    {"spatial_scale", AttributeKind::Float, "", "the factor from regions to elements"},
    {"layout", AttributeKind::String, "\"NCHW\"", "the layout of the data, `NCHW`"},
};

constexpr NoGradient scatters = {
    "adds to elements that positions name, which no operator does for real positions"};
constexpr NoGradient followsMaxima = {
    "follows the places of the greatest elements, which no operator gives for regions"};

constexpr Example cropExamples[] = {
    {"image.crop_and_resize([[[[0f, 1f], [2f, 3f]]]], [[0f, 0f, 1f, 1f]], [0], crop_size=[1, 3])",
     "[[[[1f, 1.5f, 2f]]]]"},
    {"image.crop_and_resize([[[[0f, 1f], [2f, 3f]]]], [[0f, 0.6f, 2f, 0.6f]], [0], crop_size=[2, "
     "1], method=\"nearest_neighbor\", extrapolation_value=9f)",
     "[[[[1f], [9f]]]]"},
};
constexpr Example poolExamples[] = {
    {"vision.roi_pool([[[[0f, 1f, 2f], [3f, 4f, 5f]]]], [[0f, 0f, 0f, 3f, 1f]], pooled_size=[1, "
     "2], spatial_scale=0.5f, attrs_type_key=\"relay.attrs.ROIPoolAttrs\")",
     "[[[[4f, 5f]]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "image.crop_and_resize",
        .doc = "Cuts boxes out of pictures and interpolates them to one size.",
        .details = "The ends of a box are the centres of the outer elements of the result; a "
                   "result one element high or wide is read at the middle of the box.",
        .operands = cropOperands,
        .attributes = cropAttributes,
        .attributesKey = "relay.attrs.CropAndResizeAttrs",
        .relation = cropRelation,
        .compute = computeCrop,
        .gradient = scatters,
        .examples = cropExamples,
    },
    {
        .name = "vision.roi_pool",
        .doc = "The greatest elements of regions of pictures, cut into bins.",
        .details = "The sides of a region times `spatial_scale` are rounded to whole elements; "
                   "bins may overlap by one. An empty bin gives 0.",
        .operands = poolOperands,
        .attributes = poolAttributes,
        .attributesKey = "relay.attrs.ROIPoolAttrs",
        .relation = roiPoolRelation,
        .compute = computeRoiPool,
        .gradient = followsMaxima,
        .examples = poolExamples,
        .unregisteredAttributes = true,
    },
};

} // namespace

OperatorFamily regionsFamily() {
  return rows;
}

} // namespace stdlib
