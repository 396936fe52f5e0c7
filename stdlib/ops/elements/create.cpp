// Operators that make tensors from little: conversions, constants, ranges, masks, and the shape of
// a tensor as data.
//
// A `dtype` attribute of `""` is unset; each row says what it means then.
#include "runtime/half.h"
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/simplify.h"

#include <cmath>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::DType;
using runtime::dtypeName;
using runtime::Tensor;

RelationResult castRelation(const RelationCall& call) {
  auto dtype = call.attributes.dtype("dtype");
  return dtype ? call.solved(call.shape(0), *dtype) : call.failed("`dtype` must be given");
}

RelationResult castLikeRelation(const RelationCall& call) {
  return call.solved(call.shape(0), call.dtype(1));
}

void convert(ComputeCall& call) {
  TensorHandle x = call.input(0);
  call.result([&](const Position& at) { return cast(x(at), call.outputDType()); });
}

RelationResult reinterpretRelation(const RelationCall& call) {
  auto dtype = call.attributes.dtype("dtype");
  if (!dtype)
    return call.failed("`dtype` must be given");
  DType from = call.dtype(0);
  if (from.bits != dtype->bits || from.lanes != dtype->lanes)
    return call.failed(words("`{}` and `{}` have different widths", from, *dtype));
  return call.solved(call.shape(0), *dtype);
}

void reinterpret(ComputeCall& call) {
  TensorHandle x = call.input(0);
  DType dtype = call.outputDType();
  call.result([&](const Position& at) { return reinterpret(x(at), dtype); });
}

/// A tensor of the shape that the `shape` attribute gives.
RelationResult shapedRelation(const RelationCall& call, DType dtype) {
  if (call.attributes.isNull("shape"))
    return call.failed("`shape` must be given");
  auto shape = shapeAttribute(call, "shape");
  return shape ? solvedAsWritten(call, "shape", *shape, dtype)
               : call.failed("`shape` has a negative extent");
}

RelationResult constantRelation(const RelationCall& call) {
  auto dtype = call.attributes.dtype("dtype");
  return dtype ? shapedRelation(call, *dtype) : call.failed("`dtype` must be given");
}

template <int value>
void fillWith(ComputeCall& call) {
  call.result([&](const Position&) { return call.number(call.outputDType(), value); });
}

RelationResult fullRelation(const RelationCall& call) {
  if (auto problem = requireScalar(call, 0, "fill_value"))
    return *problem;
  return shapedRelation(call, call.attributes.dtype("dtype").value_or(call.dtype(0)));
}

RelationResult fullLikeRelation(const RelationCall& call) {
  if (auto problem = requireScalar(call, 1, "fill_value"))
    return *problem;
  return sameAsFirst(call);
}

template <size_t operand>
void fillWithOperand(ComputeCall& call) {
  TensorHandle value = call.input(operand);
  call.result([&](const Position&) { return cast(value({}), call.outputDType()); });
}

constexpr int64_t longestRange = int64_t(1) << 46;

/// The one element of a tensor as a double; nothing when its type is not computable.
std::optional<double> realValue(const Tensor& tensor) {
  DType dtype = tensor.dtype();
  if (dtype == runtime::Float64)
    return tensor.elements<double>()[0];
  if (dtype == runtime::Float32)
    return tensor.elements<float>()[0];
  if (dtype == runtime::Float16)
    return float(tensor.elements<runtime::Half>()[0]);
  if (dtype == runtime::BFloat16)
    return float(tensor.elements<runtime::BHalf>()[0]);
  auto integers = integerValues(tensor);
  return integers ? std::optional(double((*integers)[0])) : std::nullopt;
}

/// ceil((stop - start) / step), INT64_MAX for all that is beyond; nothing when it is no number or
/// negative.
std::optional<int64_t> rangeLength(const Tensor& start, const Tensor& stop, const Tensor& step) {
  auto first = integerValues(start), last = integerValues(stop), stride = integerValues(step);
  if (first && last && stride) {
    __int128 distance = __int128((*last)[0]) - (*first)[0], by = (*stride)[0];
    if (by == 0)
      return std::nullopt;
    if (by < 0)
      distance = -distance, by = -by;
    if (distance < 0)
      return std::nullopt;
    __int128 count = (distance + by - 1) / by;
    return int64_t(std::min<__int128>(count, INT64_MAX));
  }
  auto from = realValue(start), to = realValue(stop), by = realValue(step);
  if (!from || !to || !by || *by == 0)
    return std::nullopt;
  double count = std::ceil((*to - *from) / *by);
  if (std::isnan(count) || std::isinf(count) || count < 0)
    return std::nullopt;
  return count > double(longestRange) ? INT64_MAX : int64_t(count);
}

constexpr OperandRow arangeOperands[] = {
    {"start", "the first element", OperandKind::Tensor, true},
    {"end", "where to stop; not included", OperandKind::Tensor, true},
    {"step", "the distance of elements, not zero", OperandKind::Tensor, true},
};

/// How many numbers there are from one size to another one, by ones; null where that is not known.
const Dim* countedSizes(const RelationCall& call) {
  auto from = call.sizesIn(0), to = call.sizesIn(1), step = call.sizesIn(2);
  if (!from || !to || !step || !step->front()->isConstant(1))
    return nullptr;
  const Dim* count = call.types.subtract(to->front(), from->front());
  return count->isAny() || !isAtLeast(count, 0) ? nullptr : count;
}

RelationResult arangeRelation(const RelationCall& call) {
  auto dtype = call.attributes.dtype("dtype");
  if (!dtype)
    return call.failed("`dtype` must be given");
  const Type* scalar = call.types.scalar(*dtype);
  std::vector<std::pair<size_t, const Type*>> inferred;
  bool knowsValues = true;
  for (size_t i = 0; i < 3; ++i) {
    if (!call.isKnown(i))
      inferred.push_back({i, scalar});
    else if (call.operands[i] != scalar)
      return call.failedAt(i, words("`{}` must be `{}` as `dtype` says, but it is `{}`",
                                    arangeOperands[i].name, scalar, call.operands[i]));
    knowsValues = knowsValues && call.value(i);
  }
  const Dim* length = call.types.any();
  if (knowsValues) {
    auto count = rangeLength(*call.value(0), *call.value(1), *call.value(2));
    if (!count)
      return call.failed("the range has no length: `step` is zero or leads away from `end`, or a "
                         "bound is not finite");
    if (*count > longestRange)
      return call.failedForSize("the range has more elements than memory");
    length = call.types.constant(*count);
  }
  if (const Dim* counted = countedSizes(call); counted && !knowsValues)
    length = counted;
  RelationResult result = call.solved(std::vector<const Dim*>{length}, *dtype);
  result.operands = std::move(inferred);
  return result;
}

void arange(ComputeCall& call) {
  TensorHandle start = call.input(0), step = call.input(2);
  call.result(
      [&](const Position& at) { return start({}) + cast(at[0], call.outputDType()) * step({}); });
}

template <DType unset>
RelationResult shapeOfRelation(const RelationCall& call) {
  DType dtype = call.attributes.dtype("dtype").value_or(unset);
  if (call.rank(0) == 0)
    return call.solved(call.types.scalar(dtype));
  std::vector<const Dim*> shape{call.types.constant(int64_t(call.rank(0)))};
  return call.solved(shape, dtype);
}

void shapeOf(ComputeCall& call) {
  TensorHandle x = call.input(0);
  call.result([&](const Position& at) {
    Scalar extent = call.integer(0);
    for (size_t i = x.rank(); i-- > 0;)
      extent = i + 1 == x.rank() ? x.extent(i) : select(at[0] == double(i), x.extent(i), extent);
    return cast(extent, call.outputDType());
  });
}

RelationResult sizeRelation(const RelationCall& call) {
  DType dtype = call.attributes.dtype("dtype").value_or(runtime::Int32);
  return call.solved(call.types.scalar(dtype));
}

void size(ComputeCall& call) {
  Scalar count = productOf(call.integer(0).arena(), call.input(0).shape());
  call.result([&](const Position&) { return cast(count, call.outputDType()); });
}

RelationResult extentRelation(const RelationCall& call) {
  int64_t axis = call.attributes.integer("axis");
  if (!call.normalAxis(axis, call.rank(0)))
    return axisFailure(call, "axis", axis);
  return call.solved(call.types.scalar(call.attributes.dtype("dtype").value_or(runtime::Int32)));
}

void extent(ComputeCall& call) {
  TensorHandle x = call.input(0);
  Scalar size = x.extent(call.axis("axis", x.rank()));
  call.result([&](const Position&) { return cast(size, call.outputDType()); });
}

constexpr OperandRow dataOperand[] = {{"data", "the input"}};
constexpr OperandRow castLikeOperands[] = {{"data", "the input"},
                                           {"dtype_like", "a tensor of the wanted type"}};
constexpr OperandRow fullOperands[] = {{"fill_value", "the value of all elements, of rank 0"}};
constexpr OperandRow fullLikeOperands[] = {{"data", "a tensor of the wanted type"},
                                           fullOperands[0]};
constexpr AttributeRow castAttributes[] = {
    {"dtype", AttributeKind::DType, "", "the type of the result"}};
constexpr AttributeRow filledAttributes[] = {
    {"shape", AttributeKind::IntList, "", "the shape of the result", true},
    {"dtype", AttributeKind::DType, "\"\"",
     "the type of the result; that of the value when unset"}};
constexpr AttributeRow shapedAttributes[] = {
    {"shape", AttributeKind::IntList, "", "the shape of the result", true},
    {.name = "dtype",
     .kind = AttributeKind::DType,
     .defaultText = "\"\"",
     .doc = "the type of the result",
     .isByUse = true}};
constexpr AttributeRow arangeAttributes[] = {
    {"start", AttributeKind::Expr, "None", "repeats the operand", true},
    {"stop", AttributeKind::Expr, "None", "repeats the operand", true},
    {"step", AttributeKind::Expr, "None", "repeats the operand", true},
    {"dtype", AttributeKind::DType, "", "the type of the result and of the operands"}};
constexpr AttributeRow shapeOfAttributes[] = {
    {"dtype", AttributeKind::DType, "\"\"", "the type of the result; int32 when it is unset"}};
constexpr AttributeRow extentAttributes[] = {
    {"axis", AttributeKind::Int, "", "which dimension; a negative one counts from the back"},
    {.name = "dtype",
     .kind = AttributeKind::DType,
     .defaultText = "\"\"",
     .doc = "the type of the result; int32 when it is unset",
     .isByUse = true}};
constexpr OperandRow tensorOperand[] = {{"tensor", "the input"}};
constexpr AttributeRow shapeOfDialectAttributes[] = {
    {"dtype", AttributeKind::DType, "\"\"", "the type of the result; int64 when it is unset"}};
constexpr Example castExamples[] = {{"cast([1.7f, -1.7f], dtype=\"int32\")", "[1, -1]"},
                                    {"cast([0, 3], dtype=\"bool\")", "[False, True]"}};
constexpr Example castLikeExamples[] = {{"cast_like([1, 2], 0f)", "[1f, 2f]"}};
constexpr Example reinterpretExamples[] = {
    {"reinterpret([1f, 2f], dtype=\"int32\")", "[1065353216, 1073741824]"}};
constexpr Example fullExamples[] = {{"full(7, shape=[2, 1])", "[[7], [7]]"},
                                    {"full(7, shape=[2], dtype=\"float32\")", "[7f, 7f]"}};
constexpr Example fullLikeExamples[] = {{"full_like([1f, 2f], 7f)", "[7f, 7f]"}};
constexpr Example zerosExamples[] = {{"zeros(shape=[2], dtype=\"float32\")", "[0f, 0f]"}};
constexpr Example onesExamples[] = {{"ones(shape=[2, 1], dtype=\"int32\")", "[[1], [1]]"}};
constexpr Example arangeExamples[] = {
    {"arange(0, 5, 2, dtype=\"int32\")", "[0, 2, 4]"},
    {"arange(1f, 0f, -0.25f, dtype=\"float32\")", "[1f, 0.75f, 0.5f, 0.25f]"}};
constexpr Example shapeOfDialectExamples[] = {{"vm.shape_of([[1f, 2f, 3f]])", "[1i64, 3i64]"}};
constexpr Example shapeOfExamples[] = {{"shape_of([[1f, 2f, 3f]], dtype=\"int32\")", "[1, 3]"}};
constexpr Example sizeExamples[] = {{"ndarray_size([[1f, 2f, 3f]], dtype=\"int32\")", "3"}};
constexpr Example extentExamples[] = {{"size([[1f, 2f, 3f]], axis=1)", "3"},
                                      {"size([[1f, 2f, 3f]], axis=-2, dtype=\"float32\")", "1f"}};
constexpr NoGradient noOperands{"there is no operand"};
void castGradient(GradientCall& d) {
  give(d, 0, castTo(d.cotangent(), d.operand(0).dtype()));
}

template <size_t value>
void fillGradient(GradientCall& d) {
  give(d, value, castTo(sumOfAll(d.cotangent()), d.operand(value).dtype()));
}

/// The result is `start + i * step`.
void arangeGradient(GradientCall& d) {
  Term start = d.operand(0), step = d.operand(2);
  Term cotangent = castTo(d.cotangent(), start.dtype());
  Term count = (castTo(d.result(), start.dtype()) - start) / step;
  give(d, 0, sumOfAll(cotangent));
  give(d, 2, sumOfAll(cotangent * count));
}

/// Whether a type holds every value of another one.
constexpr bool holds(DType wide, DType narrow) {
  if (wide == narrow || narrow == runtime::Bool)
    return true;
  if (wide == runtime::Bool || wide.lanes != narrow.lanes || narrow.lanes != 1)
    return false;
  if (narrow.isFloat())
    return wide.isFloat() && wide.bits > narrow.bits;
  // Of the bits of a float those of its fraction count, with the one that is not written.
  int given = narrow.bits - (narrow.isSigned() ? 1 : 0), room = wide.bits;
  if (wide.isFloat())
    room = wide == runtime::Float64 ? 53 : wide == runtime::Float32 ? 24 : 8;
  else if (wide.isSigned())
    room = wide.bits - 1;
  else if (narrow.isSigned())
    return false;
  return given <= room;
}

/// A conversion to the type that the data has, or behind one that loses nothing. Integers wrap and
/// floats saturate, so integers that went through floats must fit.
void simplifyCast(SimplifyCall& s) {
  Term source = s.operand(0);
  DType to = s.resultType()->dtype;
  if (to.isComputable() && becomesZeros(s))
    return;
  auto inner = s.madeBy(source, "cast");
  if (!inner)
    inner = s.madeBy(source, "cast_like");
  if (inner) {
    Term first = inner->operands[0];
    bool goesThroughFloat = source.dtype().isFloat() && !first.dtype().isFloat() && !to.isFloat();
    if (holds(source.dtype(), first.dtype()) && (!goesThroughFloat || holds(to, first.dtype())))
      source = first;
  }
  bool isSimpler = source.atom() != s.operand(0).atom() || s.operandCount() == 2;
  if (source.dtype() == to)
    s.becomesIfTyped(source);
  else if (isSimpler && to.isComputable())
    s.becomesIfTyped(castTo(source, to));
}

void simplifyFullLike(SimplifyCall& s) {
  Term like = s.operand(0), value = s.operand(1);
  if (like.rank() == 0)
    s.becomesIfTyped(value);
  else if (isFilledWith(s, value, 0))
    s.becomesIfTyped(zerosLike(like));
  else if (isFilledWith(s, value, 1))
    s.becomesIfTyped(onesLike(like));
}

template <typename Element>
Term vectorOf(SimplifyCall& s, const std::vector<int64_t>& values) {
  Tensor tensor(s.resultType()->dtype, {int64_t(values.size())});
  std::ranges::copy(values, tensor.elements<Element>().begin());
  return s.constant(tensor);
}

/// The extents of a shape that is made of numbers are constants.
void simplifyShapeOf(SimplifyCall& s) {
  Dims shape = s.operand(0).shape();
  if (!isStatic(shape) || shape.empty())
    return;
  std::vector<int64_t> extents = extentsOf(shape);
  if (s.resultType()->dtype == runtime::Int64)
    s.becomesIfTyped(vectorOf<int64_t>(s, extents));
  else if (s.resultType()->dtype == runtime::Int32 && std::ranges::max(extents) <= INT32_MAX)
    s.becomesIfTyped(vectorOf<int32_t>(s, extents));
}

/// An extent that is a number is a constant.
void simplifyExtent(SimplifyCall& s) {
  Dims shape = s.operand(0).shape();
  int64_t axis = s.attributes().integer("axis");
  const Dim* dim = shape[size_t(axis < 0 ? axis + int64_t(shape.size()) : axis)];
  DType dtype = s.resultType()->dtype;
  if (dim->isConstant() && dtype.isComputable() && dim->value <= 1 << 20)
    s.becomesIfTyped(s.number(dtype, double(dim->value)));
}

constexpr SimplifyExample extentSimpler[] = {{"size(%t, axis=-1, dtype=\"int64\")", "3i64"}};
constexpr SimplifyExample shapeOfSimpler[] = {
    {"shape_of(%t, dtype=\"int64\")", "[4i64, 2i64, 3i64]"}};
constexpr SimplifyExample castSimpler[] = {
    {"cast(zeros_like(%i), dtype=\"float32\")", "zeros(shape=[2, 3], dtype=\"float32\")"},
    {"cast(%x, dtype=\"float32\")", "%x"},
    {"cast(cast(%x, dtype=\"float64\"), dtype=\"float16\")", "cast(%x, dtype=\"float16\")"}};
constexpr SimplifyExample castLikeSimpler[] = {
    {"cast_like(%x, %y)", "%x"}, {"cast_like(%i, %x)", "cast(%i, dtype=\"float32\")"}};
constexpr SimplifyExample fullLikeSimpler[] = {{"full_like(%n, 0f)", "zeros_like(%n)"},
                                               {"full_like(%n, 1f)", "ones_like(%n)"},
                                               {"full_like(2f, 7f)", "7f"}};

constexpr OperatorRow rows[] = {
    {.name = "cast",
     .synonyms = "astype convert convert_element_type",
     .doc = "The input converted to another element type.",
     .details = "Floats to integers truncate and saturate, integers wrap, and to bool is \"not "
                "zero\".",
     .operands = dataOperand,
     .attributes = castAttributes,
     .attributesKey = "relay.attrs.CastAttrs",
     .relation = castRelation,
     .compute = convert,
     .gradient = GradientRule{castGradient},
     .simplify = {simplifyCast, castSimpler},
     .examples = castExamples},
    {.name = "cast_like",
     .synonyms = "type_as",
     .doc = "The input converted to the element type of another tensor.",
     .operands = castLikeOperands,
     .relation = castLikeRelation,
     .compute = convert,
     .role = Role::CastLike,
     .gradient = GradientRule{castGradient},
     .simplify = {simplifyCast, castLikeSimpler},
     .examples = castLikeExamples},
    {.name = "reinterpret",
     .synonyms = "bitcast bitcast_convert_type",
     .doc = "The bits of the input read as another element type of the same width.",
     .operands = dataOperand,
     .attributes = castAttributes,
     .attributesKey = "relay.attrs.CastAttrs",
     .relation = reinterpretRelation,
     .compute = reinterpret,
     .gradient = NoGradient{"it reads bits, not values"},
     .examples = reinterpretExamples},
    {.name = "full",
     .synonyms = "fill",
     .doc = "A tensor of a given shape that holds one value everywhere.",
     .details = "Without `dtype` the result has the type of the value.",
     .operands = fullOperands,
     .attributes = filledAttributes,
     .attributesKey = "relay.attrs.InitOpAttrs",
     .relation = fullRelation,
     .compute = fillWithOperand<0>,
     .gradient = GradientRule{fillGradient<0>},
     .examples = fullExamples},
    {.name = "full_like",
     .doc = "One value everywhere, in the shape and type of another tensor.",
     .operands = fullLikeOperands,
     .relation = fullLikeRelation,
     .compute = fillWithOperand<1>,
     .gradient = GradientRule{fillGradient<1>},
     .simplify = {simplifyFullLike, fullLikeSimpler},
     .examples = fullLikeExamples},
    {.name = "zeros",
     .doc = "A tensor of zeros of a given shape and type.",
     .operands = {},
     .attributes = shapedAttributes,
     .attributesKey = "relay.attrs.InitOpAttrs",
     .relation = constantRelation,
     .compute = fillWith<0>,
     .gradient = noOperands,
     .examples = zerosExamples},
    {.name = "ones",
     .doc = "A tensor of ones of a given shape and type.",
     .operands = {},
     .attributes = shapedAttributes,
     .attributesKey = "relay.attrs.InitOpAttrs",
     .relation = constantRelation,
     .compute = fillWith<1>,
     .gradient = noOperands,
     .examples = onesExamples},
    {.name = "arange",
     .synonyms = "range iota",
     .doc = "The numbers from a start to an end, which is left out, at equal distances.",
     .details = "Element i is `start + i * step`, and there are `ceil((end - start) / step)` of "
                "them; a step that leads away from the end is a mistake. The length is known where "
                "the operands are constants.",
     .operands = arangeOperands,
     .attributes = arangeAttributes,
     .attributesKey = "relay.attrs.ArangeAttrs",
     .relation = arangeRelation,
     .compute = arange,
     .gradient = GradientRule{arangeGradient},
     .examples = arangeExamples,
     .shapeNeeds = ShapeNeeds::Constants},
    {.name = "shape_of",
     .synonyms = "shape",
     .doc = "The shape of a tensor as an integer vector.",
     .details = "The shape of a tensor of rank 0 has rank 0 as well, as in Relay, and is 0.",
     .operands = dataOperand,
     .attributes = shapeOfAttributes,
     .attributesKey = "relay.attrs.ShapeOfAttrs",
     .relation = shapeOfRelation<runtime::Int32>,
     .compute = shapeOf,
     .role = Role::Shape,
     .gradient = integerValued,
     .simplify = {simplifyShapeOf, shapeOfSimpler},
     .examples = shapeOfExamples},
    {.name = "vm.shape_of",
     .doc = "The shape of a tensor, as TVM's machine computes it.",
     .details = "Stands in programs that TVM's passes have changed; other programs say `shape_of`.",
     .operands = tensorOperand,
     .attributes = shapeOfDialectAttributes,
     .attributesKey = "relay.attrs.ShapeOfAttrs",
     .relation = shapeOfRelation<runtime::Int64>,
     .compute = shapeOf,
     .gradient = integerValued,
     .examples = shapeOfDialectExamples},
    {.name = "size",
     .synonyms = "extent dim",
     .doc = "The extent of one dimension of a tensor.",
     .operands = dataOperand,
     .attributes = extentAttributes,
     .attributesKey = "baton.attrs.SizeAttrs",
     .relation = extentRelation,
     .compute = extent,
     .role = Role::Extent,
     .gradient = integerValued,
     .simplify = {simplifyExtent, extentSimpler},
     .examples = extentExamples},
    {.name = "ndarray_size",
     .synonyms = "numel",
     .doc = "The number of elements of a tensor.",
     .operands = dataOperand,
     .attributes = shapeOfAttributes,
     .attributesKey = "relay.attrs.NdarraySizeAttrs",
     .relation = sizeRelation,
     .compute = size,
     .role = Role::Size,
     .gradient = integerValued,
     .examples = sizeExamples},
};

} // namespace

lang::OperatorFamily createFamily() {
  return rows;
}

} // namespace stdlib
