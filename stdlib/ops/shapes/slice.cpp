// Operators that read or replace a box of a tensor: strided_slice, strided_set, slice_like.
//
// A slice is positions begin, begin + stride, ... before end, as in numpy; bounds are clamped, but
// a slice that begins behind its end is an error.
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/shape_rules.h"
#include "stdlib/ops/simplify.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using runtime::Checked;

namespace {

using namespace lang;

Checked<std::vector<AxisSlice>> slicesOf(const Attributes& attributes, size_t rank) {
  SliceBounds bounds{attributes.integers("begin"), attributes.integers("end"),
                     attributes.integers("strides")};
  if (!attributes.isNull("axes"))
    bounds.axes = attributes.integers("axes");
  bounds.mode = attributes.text("slice_mode");
  return axisSlices(bounds, rank);
}

RelationResult stridedSliceRelation(const RelationCall& call) {
  auto slices = slicesOf(call.attributes, call.rank(0));
  return slices ? slicedResult(call, *slices) : call.failed(slices.failure());
}

/// The slice that strided_set replaces, as strided_slice gives it; nothing when its bounds are not
/// known, or replace nothing.
std::optional<RelationResult> replacedSlice(const RelationCall& call) {
  SliceBounds bounds;
  std::vector<int64_t>* lists[] = {&bounds.begin, &bounds.end, &bounds.strides};
  for (size_t i = 0; i < 3; ++i) {
    const runtime::Tensor* value = call.value(2 + i);
    auto numbers = value ? integerValues(*value) : std::nullopt;
    if (!numbers)
      return std::nullopt;
    *lists[i] = std::move(*numbers);
  }
  auto slices = axisSlices(bounds, call.rank(0));
  if (!slices)
    return std::nullopt;
  RelationResult slice = slicedResult(call, *slices);
  bool isSolved = slice.outcome == RelationResult::Outcome::Solved;
  return isSolved ? std::optional(std::move(slice)) : std::nullopt;
}

/// Compares the value with the slice that it replaces; what named sizes must fulfil goes to
/// `result`.
std::optional<RelationResult> valueProblem(const RelationCall& call, RelationResult& result) {
  auto slice = replacedSlice(call);
  if (!slice)
    return std::nullopt;
  Dims wanted = slice->output->shape, given = call.shape(1);
  for (size_t i = 0; i < given.size(); ++i)
    if (call.differ(wanted[i], given[i]))
      return call.failedOn({{1, i}, {0, i}},
                           fmt::format("the value has the shape `{}`, but the slice that it is to "
                                       "replace has `{}`",
                                       shapeText(given), shapeText(wanted)));
  result.bounds.insert(result.bounds.end(), slice->bounds.begin(), slice->bounds.end());
  for (size_t i = 0; i < given.size(); ++i)
    requireSame(result, call.types, wanted[i], given[i]);
  return std::nullopt;
}

RelationResult stridedSetRelation(const RelationCall& call) {
  if (auto problem = requireSameDType(call, 0, 1))
    return *problem;
  if (call.rank(1) != call.rank(0))
    return call.failedAt(1, fmt::format("the shapes `{}` and `{}` differ in rank",
                                        shapeText(call.shape(0)), shapeText(call.shape(1))));
  for (size_t i = 2; i < 5; ++i) {
    if (call.rank(i) != 1 || !call.dtype(i).isInteger())
      return call.failedAt(
          i, words("a bound must be a vector of integers, but it is `{}`", call.operands[i]));
    const Dim* length = call.shape(i)[0];
    if (length->isConstant() && length->value > int64_t(call.rank(0)))
      return call.failedAt(i, fmt::format("there are {} bounds, but the tensor has rank {}",
                                          length->value, call.rank(0)));
  }
  RelationResult result = sameAsFirst(call);
  const Dim* rank = call.types.constant(int64_t(call.rank(0)));
  for (size_t i = 2; i < 5; ++i)
    requireAtLeast(result, call.types.subtract(rank, call.shape(i)[0]), 0);
  if (auto problem = valueProblem(call, result))
    return *problem;
  return result;
}

RelationResult sliceLikeRelation(const RelationCall& call) {
  Dims data = call.shape(0), like = call.shape(1);
  std::vector<int64_t> axes = call.attributes.integers("axes");
  if (call.attributes.isNull("axes"))
    for (size_t i = 0; i < std::min(data.size(), like.size()); ++i)
      axes.push_back(int64_t(i));
  auto normal = normalAxes("axes", axes, data.size(), false);
  if (!normal)
    return call.failed(normal.failure());
  DimVector shape(data.begin(), data.end());
  for (size_t axis : *normal) {
    if (axis >= like.size())
      return call.failed(axisProblem("axes", int64_t(axis), like.size()));
    const Dim* rest = call.types.subtract(data[axis], like[axis]);
    if (rest->isConstant() && rest->value < 0)
      return call.failed(fmt::format("the shape `{}` cannot be cut to `{}` in dimension {}",
                                     shapeText(data), shapeText(like), axis));
    shape[axis] = like[axis];
  }
  RelationResult result = call.solved(shape, call.dtype(0));
  for (size_t axis : *normal)
    requireAtLeast(result, call.types.subtract(data[axis], like[axis]), 0);
  return result;
}

void computeStridedSlice(ComputeCall& call) {
  TensorHandle x = call.input(0);
  auto slices = *slicesOf(call.attributes(), x.rank());
  call.result([&](const Position& at) {
    Position from;
    for (size_t i = 0; i < at.size(); ++i)
      from.push_back(slices[i].isWhole() ? at[i]
                                         : sliceBegin(call, slices[i], x.extent(i)) +
                                               at[i] * call.integer(slices[i].stride));
    return x(from);
  });
}

void computeSliceLike(ComputeCall& call) {
  TensorHandle x = call.input(0);
  call.result([&](const Position& at) { return x(at); });
}

constexpr OperandRow data[] = {{"data", "the input"}};
constexpr OperandRow setOperands[] = {{"data", "the input"},
                                      {"v", "what to put in, of the shape of the slice"},
                                      {"begin", "where the slice begins in each dimension"},
                                      {"end", "before which it ends"},
                                      {"strides", "the distances between its positions"}};
constexpr OperandRow dataLike[] = {{"data", "the input"},
                                   {"shape_like", "a tensor whose shape counts"}};

constexpr AttributeRow sliceAttributes[] = {
    {"begin", AttributeKind::IntList, "", "where the slice begins in each dimension", true},
    {"end", AttributeKind::IntList, "", "before which it ends, or its lengths", true},
    {"strides", AttributeKind::IntList, "", "the distances between its positions", true},
    {"slice_mode", AttributeKind::String, "\"end\"",
     "whether `end` holds ends or lengths (`size`)"},
    {"axes", AttributeKind::IntList, "", "the dimensions to slice; the first ones if `None`",
     true}};
constexpr AttributeRow sliceLikeAttributes[] = {
    {"axes", AttributeKind::IntList, "", "the dimensions to cut; all that both have if `None`",
     true}};

constexpr Example sliceExamples[] = {
    {"strided_slice([1f, 2f, 3f, 4f], begin=[1], end=[4], strides=[2], axes=None)", "[2f, 4f]"},
    {"strided_slice([1f, 2f, 3f, 4f], begin=[-1], end=[-5], strides=[-2], axes=None)", "[4f, 2f]"},
    {"strided_slice([[1, 2], [3, 4]], begin=[0], end=[1], strides=[1], slice_mode=\"size\", "
     "axes=[1])",
     "[[1], [3]]"}};
constexpr Example setExamples[] = {
    {"strided_set([1f, 2f, 3f, 4f], [8f, 9f], [0], [4], [2])", "[8f, 2f, 9f, 4f]"},
    {"strided_set([1f, 2f, 3f, 4f], [8f, 9f], [-1], [0], [-2])", "[1f, 9f, 3f, 8f]"}};
constexpr Example sliceLikeExamples[] = {
    {"slice_like([[1f, 2f], [3f, 4f]], [[0f]], axes=None)", "[[1f]]"},
    {"slice_like([[1f, 2f], [3f, 4f]], [[0f]], axes=[-1])", "[[1f], [3f]]"}};

/// Appends the bounds of a slice of one dimension as strided_set takes them; false where nobody
/// knows where it ends. In an extent that is a number the end is next to the last element.
bool addBounds(const AxisSlice& slice, const Dim* extent, SliceBounds& bounds) {
  const bool isForward = slice.stride > 0;
  int64_t begin = slice.begin.value_or(isForward ? 0 : -1), stride = slice.stride;
  int64_t end = slice.end.value_or(isForward ? INT64_MAX : -INT64_MAX);
  if (extent->isConstant()) {
    auto range = resolveSlice(slice, extent->value);
    SliceRange known = range && range->count > 0 ? *range : SliceRange{};
    int64_t stop = known.begin + (known.count - 1) * known.stride + (known.stride > 0 ? 1 : -1);
    begin = known.begin;
    end = known.count == 0 ? 0 : stop < 0 ? -1 - extent->value : stop;
    stride = known.stride;
  } else if (slice.endIsSize && slice.end) {
    // Counted from the back, the begin may be moved, and the end with it.
    if (begin < 0)
      return false;
    if (__builtin_add_overflow(begin, *slice.end, &end))
      end = INT64_MAX;
  }
  bounds.begin.push_back(begin);
  bounds.end.push_back(end);
  bounds.strides.push_back(stride);
  return true;
}

void stridedSliceGradient(GradientCall& d) {
  Term x = d.operand(0);
  if (x.rank() == 0)
    return give(d, 0, d.cotangent());
  SliceBounds bounds;
  auto slices = *slicesOf(d.attributes(), x.rank());
  bool areKnown = true;
  for (size_t i = 0; i < slices.size(); ++i)
    areKnown = areKnown && addBounds(slices[i], x.shape()[i], bounds);
  if (!areKnown) {
    Term places = d.call("strided_slice", {placesLike(x)}, sameAttributes(d));
    return give(d, 0, addedAtPlaces(d.cotangent(), places, x));
  }
  auto sum = d.takeSum(0);
  Term part = d.cotangent();
  if (sum)
    part = part + d.call("strided_slice", {*sum}, sameAttributes(d));
  give(d, 0,
       d.call("strided_set", {sum ? *sum : zerosLike(x), part, integers(d, bounds.begin),
                              integers(d, bounds.end), integers(d, bounds.strides)}));
}

/// The numbers that an operand of a call is; nothing where it is no constant.
std::optional<runtime::Tensor> numbersOf(const Term& operand) {
  const auto* constant = operand.atom()->as<Constant>();
  return constant ? std::optional(constantTensor(*constant)) : std::nullopt;
}

/// What `strided_set` replaces of a tensor like its data; nothing where strides may be zero.
std::optional<Term> replacedPart(GradientCall& d, const Term& from) {
  auto begin = numbersOf(d.operand(2)), end = numbersOf(d.operand(3));
  auto strides = numbersOf(d.operand(4));
  auto steps = strides ? integerValues(*strides) : std::nullopt;
  if (!steps || std::ranges::count(*steps, 0) > 0)
    return std::nullopt;
  auto isOfLength = [&](size_t i) { return d.operand(i).dim(0)->isConstant(); };
  if (!begin || !end)
    return isOfLength(2) && isOfLength(3)
               ? std::optional(
                     d.call("dyn.strided_slice", {from, d.operand(2), d.operand(3), d.operand(4)}))
               : std::nullopt;
  RelationCall call = d.relationCall();
  const runtime::Tensor* values[] = {nullptr, nullptr, &*begin, &*end, &*strides};
  call.values = values;
  if (!replacedSlice(call))
    return std::nullopt;
  return d.call(
      "strided_slice", {from},
      {{"begin", *integerValues(*begin)}, {"end", *integerValues(*end)}, {"strides", *steps}});
}

/// The cotangent of `v` where only a run knows what it replaces. Places of `v` are written as `v`
/// is, counted from 1: what is 0 was kept.
Term partAtPlaces(GradientCall& d) {
  Term x = d.operand(0), v = d.operand(1);
  Term written = d.call("strided_set", {castTo(zerosLike(x), runtime::Int64), placesLike(v) + 1,
                                        d.operand(2), d.operand(3), d.operand(4)});
  Term sums = d.call("scatter_elements",
                     {padded(zerosLike(reshaped(v, {-1})), {{1, 0}}), reshaped(written, {-1}),
                      reshaped(d.cotangent(), {-1})},
                     {{"axis", 0}, {"reduction", "add"}});
  return reshapedLike(sliced(sums, 0, 1, toEnd), v);
}

/// The part comes first, so that the transpose adds it to a tensor that is there. It has the shape
/// of `v`, also where types leave it open, and needs no `v` to tell.
void stridedSetGradient(GradientCall& d) {
  auto part = replacedPart(d, d.cotangent());
  if (part && d.wants(1) && isSameType(part->type(), d.operand(1).type()))
    d.to(1, *part);
  else
    give(d, 1, part ? *part : partAtPlaces(d));
  give(d, 0,
       d.call("strided_set",
              {d.cotangent(), zerosLike(d.operand(1)), d.operand(2), d.operand(3), d.operand(4)}));
}

void sliceLikeGradient(GradientCall& d) {
  auto sum = d.takeSum(0);
  Term part = d.cotangent();
  if (sum)
    part = part + d.call("slice_like", {*sum, part}, sameAttributes(d));
  give(d, 0, setAtStart(sum ? *sum : zerosLike(d.operand(0)), part));
}

/// Whether a call of strided_set replaces what this call of strided_slice reads.
bool readsReplaced(const SimplifyCall& s, const TermCall& set) {
  const char* bounds[] = {"begin", "end", "strides"};
  bool isSame = s.attributes().isNull("axes") && s.attributes().text("slice_mode") == "end";
  for (size_t i = 0; i < 3 && isSame; ++i) {
    auto value = s.constantOf(set.operands[2 + i]);
    isSame = value && integerValues(*value) == s.attributes().integers(bounds[i]);
  }
  return isSame;
}

/// Whether a slice begins before its end whatever the extent is: the bounds count from one side.
/// Elsewhere reading it may be a fault, where setting it does nothing.
bool isOrdered(const AxisSlice& slice) {
  if (!slice.begin || !slice.end)
    return true;
  bool areOfOneSide = (*slice.begin < 0) == (*slice.end < 0);
  return areOfOneSide &&
         (slice.stride > 0 ? *slice.begin <= *slice.end : *slice.begin >= *slice.end);
}

/// The whole of a tensor, in its own order, or what was just put there.
void simplifySlice(SimplifyCall& s) {
  auto slices = slicesOf(s.attributes(), s.operand(0).rank());
  Dims shape = s.operand(0).shape();
  auto set = s.madeBy(s.operand(0), "strided_set");
  bool isSlice = slices && (isStatic(shape) || std::ranges::all_of(*slices, isOrdered));
  if (set && isSlice && readsReplaced(s, *set) && s.becomesIfTyped(set->operands[1]))
    return;
  for (size_t i = 0; slices && i < slices->size(); ++i)
    if (!(*slices)[i].isWhole() && ((*slices)[i].stride != 1 || !shape[i]->isConstant() ||
                                    s.resultType()->shape[i] != shape[i]))
      return;
  if (slices)
    s.becomesIfTyped(s.operand(0));
}

/// What is replaced once more need not be replaced before.
void simplifySet(SimplifyCall& s) {
  auto before = s.madeBy(s.operand(0), "strided_set");
  auto isSame = [&](size_t i) {
    Term one = s.operand(i), other = before->operands[i];
    auto value = s.constantOf(one), otherValue = s.constantOf(other);
    return one.atom() == other.atom() ||
           (value && otherValue && integerValues(*value) == integerValues(*otherValue));
  };
  if (before && isSame(2) && isSame(3) && isSame(4))
    s.becomesIfTyped(s.call("strided_set", {before->operands[0], s.operand(1), s.operand(2),
                                            s.operand(3), s.operand(4)}));
}

/// Where shapes are numbers, only the one that is cut is needed.
void simplifySliceLike(SimplifyCall& s) {
  Term a = s.operand(0);
  Dims shape = s.resultType()->shape;
  if (becomesSameShape(s) || !isStatic(a.shape()) || !isStatic(shape))
    return;
  std::vector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
  s.becomesIfTyped(s.call("strided_slice", {a},
                          {{"begin", zeros}, {"end", extentsOf(shape)}, {"strides", ones}}));
}

constexpr SimplifyExample sliceSimpler[] = {
    {"strided_slice(%x, begin=[0, 0], end=[2, 9], strides=[1], axes=None)", "%x"},
    {"strided_slice(strided_set(%x, [[1f, 2f, 3f]], [1], [2], [1]), begin=[1], end=[2], "
     "strides=[1], axes=None)",
     "[[1f, 2f, 3f]]"}};
constexpr SimplifyExample setSimpler[] = {
    {"strided_set(strided_set(%x, [[1f, 2f, 3f]], [1], [2], [1]), [[4f, 5f, 6f]], [1], [2], [1])",
     "strided_set(%x, [[4f, 5f, 6f]], [1], [2], [1])"}};
constexpr SimplifyExample sliceLikeSimpler[] = {
    {"slice_like(%x, %y, axes=None)", "%x"},
    {"slice_like(%x, [[1f, 2f]], axes=None)",
     "strided_slice(%x, begin=[0, 0], end=[1, 2], strides=[1, 1], axes=None)"}};

constexpr OperatorRow rows[] = {
    {.name = "strided_slice",
     .synonyms = "[:] slice",
     .doc = "Reads every stride-th element between bounds in each dimension.",
     .details =
         "Bounds below zero count from the back; then they are clamped. Missing entries take "
         "the whole dimension. With `slice_mode=\"size\"`, `end` holds lengths (-1: to the "
         "end) and strides are 1.",
     .operands = data,
     .attributes = sliceAttributes,
     .attributesKey = "relay.attrs.StridedSliceAttrs",
     .relation = stridedSliceRelation,
     .compute = computeStridedSlice,
     .role = Role::Slice,
     .gradient = GradientRule{stridedSliceGradient, {}, true},
     .simplify = {simplifySlice, sliceSimpler},
     .examples = sliceExamples},
    {.name = "strided_set",
     .synonyms = "slice_update dynamic_update_slice",
     .doc = "Gives the data with a slice of it replaced.",
     .details =
         "The bounds mean what they do in `strided_slice`; a stride of zero replaces nothing. The "
         "value has the shape of the slice.",
     .operands = setOperands,
     .relation = stridedSetRelation,
     .native = ordering(nativeOf<natives::setSlice>()),
     .gradient = GradientRule{stridedSetGradient},
     .simplify = {simplifySet, setSimpler},
     .examples = setExamples,
     .shapeNeeds = ShapeNeeds::Constants},
    {.name = "slice_like",
     .doc = "Cuts dimensions to the extents that another tensor has.",
     .operands = dataLike,
     .attributes = sliceLikeAttributes,
     .attributesKey = "relay.attrs.SliceLikeAttrs",
     .relation = sliceLikeRelation,
     .compute = computeSliceLike,
     .gradient = GradientRule{sliceLikeGradient, {}, true},
     .simplify = {simplifySliceLike, sliceLikeSimpler},
     .examples = sliceLikeExamples},
};

} // namespace

OperatorFamily sliceFamily() {
  return rows;
}

} // namespace stdlib
