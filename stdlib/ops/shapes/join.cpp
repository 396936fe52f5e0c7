// Operators that put tensors together, take them apart or repeat them.
//
// Choosing among many sources is a balanced tree of selects, so its depth is the logarithm of their
// number.
#include "stdlib/ops/shapes/join.h"

#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/shape_fixes.h"
#include "stdlib/ops/shape_rules.h"
#include "stdlib/ops/simplify.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

using runtime::Checked;
using runtime::Problem;

using namespace lang;

namespace {

constexpr int64_t largestPartCount = 65536;

/// Converts field `from` to the element type of another.
CallFix castField(Types fields, size_t from, size_t other) {
  return wrapFix("convert it: {}", 0, "cast(",
                 words(", dtype={})", runtime::dtypeValue(fields[other]->dtype)), from);
}

/// The problem when the fields of a tuple are none, or differ in rank or element type.
std::optional<RelationResult> requireAlike(const RelationCall& call) {
  Types fields = call.fields(0);
  if (fields.empty())
    return call.failedAt(0, "the tuple is empty");
  for (size_t i = 0; i < fields.size(); ++i) {
    const Type* field = fields[i];
    if (field->shape.size() != fields[0]->shape.size())
      return call.failedAt(0, fmt::format("the numbers of dimensions differ: `{}` and `{}`",
                                          shapeText(fields[0]->shape), shapeText(field->shape)));
    if (field->dtype != fields[0]->dtype)
      return mended(call.failedAt(0, words("the element types differ: `{}` and `{}`",
                                           fields[0]->dtype, field->dtype)),
                    castField(fields, givesWay(fields[0]->dtype, field->dtype) ? 0 : i,
                              givesWay(fields[0]->dtype, field->dtype) ? i : 0));
  }
  return std::nullopt;
}

/// The common shape of the fields, which may differ only in dimension `except`, or the failure.
std::optional<DimVector> commonShape(Types fields, std::optional<size_t> except,
                                     RelationResult& failure, const RelationCall& call) {
  DimVector shape(fields[0]->shape.begin(), fields[0]->shape.end());
  for (size_t k = 1; k < fields.size(); ++k)
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i == except)
        continue;
      const Dim* both = call.meetDims(shape[i], fields[k]->shape[i]);
      if (!both) {
        failure = call.failedOn(
            {{0, i, k}, {0, i, 0}},
            fmt::format("the shapes differ in dimension {}{}: {} and {}", i,
                        except ? fmt::format(", but are joined along {}", *except) : "",
                        dimText(shape[i]), dimText(fields[k]->shape[i])));
        return std::nullopt;
      }
      shape[i] = both;
    }
  return shape;
}

} // namespace

RelationResult concatenateRelation(const RelationCall& call) {
  if (auto problem = requireAlike(call))
    return *problem;
  Types fields = call.fields(0);
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, fields[0]->shape.size());
  if (!axis)
    return axisFailureIn(call, "axis", given, fields[0]->shape.size());
  RelationResult failure;
  auto shape = commonShape(fields, axis, failure, call);
  if (!shape) {
    failure.operand.reset();
    return failure;
  }
  for (size_t k = 1; k < fields.size(); ++k)
    (*shape)[*axis] = call.types.add((*shape)[*axis], fields[k]->shape[*axis]);
  // As in Relay, a dimension that one part leaves open is open in the whole.
  for (const Type* field : fields)
    for (size_t i = 0; i < shape->size(); ++i)
      if (field->shape[i]->isAny())
        (*shape)[i] = field->shape[i];
  return call.solved(*shape, fields[0]->dtype);
}

namespace {

Fixes fixConcatenate(const RelationCall& call) {
  return joinFix(call, concatenateRelation);
}

RelationResult stackRelation(const RelationCall& call) {
  if (auto problem = requireAlike(call))
    return *problem;
  Types fields = call.fields(0);
  int64_t given = call.attributes.integer("axis");
  size_t rank = fields[0]->shape.size() + 1;
  auto axis = call.normalAxis(given, rank);
  if (!axis)
    return axisFailureIn(call, "axis", given, rank);
  RelationResult failure;
  if (!commonShape(fields, std::nullopt, failure, call))
    return failure;
  // As in Relay, the first part says how large all are.
  DimVector shape(fields[0]->shape.begin(), fields[0]->shape.end());
  shape.insert(shape.begin() + ptrdiff_t(*axis), call.types.constant(int64_t(fields.size())));
  return call.solved(shape, fields[0]->dtype);
}

/// The extents of `count` equal parts.
Checked<DimVector> equalParts(TypeContext& types, const Dim* whole, int64_t count, size_t axis) {
  if (count < 1 || count > largestPartCount)
    return Problem{
        fmt::format("the number of parts is {}, but it must be 1 to {}", count, largestPartCount)};
  if (whole->isConstant() && whole->value % count != 0)
    return Problem{fmt::format("axis {} of `data` is {}, which cannot be split into {} equal parts",
                               axis, whole->value, count)};
  return DimVector(size_t(count), types.floorDivide(whole, count));
}

/// The extents of the parts between cut points.
Checked<DimVector> cutParts(TypeContext& types, const Dim* whole, std::span<const int64_t> cuts) {
  DimVector parts;
  int64_t last = 0;
  for (int64_t cut : cuts) {
    if (cut <= last || (whole->isConstant() && cut >= whole->value))
      return Problem{
          fmt::format("the cut points [{}] must increase strictly between 0 and the extent {}",
                      fmt::join(cuts, ", "), dimText(whole))};
    parts.push_back(types.constant(cut - last));
    last = cut;
  }
  parts.push_back(types.subtract(whole, types.constant(last)));
  return parts;
}

RelationResult splitRelation(const RelationCall& call) {
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, call.rank(0));
  if (!axis)
    return axisFailure(call, "axis", given);
  const AttributeValue& how = call.attributes.get("indices_or_sections");
  const Dim* whole = call.shape(0)[*axis];
  auto parts = how.kind == AttributeValueKind::List
                   ? cutParts(call.types, whole, call.attributes.integers("indices_or_sections"))
                   : equalParts(call.types, whole, how.integer, *axis);
  if (!parts)
    return failedCall(call, {{0, *axis}}, parts.failure());
  std::vector<const Type*> fields;
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  for (const Dim* part : *parts) {
    shape[*axis] = part;
    fields.push_back(call.types.tensor(Dims(shape), call.dtype(0)));
  }
  RelationResult result = call.solved(call.types.tuple(fields));
  if (how.kind != AttributeValueKind::List)
    requireMultiple(result, whole, how.integer);
  else if (parts->size() > 1)
    requireAtLeast(result, parts->back(), 1);
  return result;
}

Fixes fixSplit(const RelationCall& call) {
  auto axis = call.normalAxis(call.attributes.integer("axis"), call.rank(0));
  const AttributeValue& how = call.attributes.get("indices_or_sections");
  if (!axis || how.kind != AttributeValueKind::Int || !call.shape(0)[*axis]->isConstant())
    return {};
  return splitFix(call, splitRelation, call.shape(0)[*axis]->value, how.integer);
}

RelationResult tileRelation(const RelationCall& call) {
  std::vector<int64_t> reps = call.attributes.integers("reps");
  for (int64_t rep : reps)
    if (rep < 1)
      return call.failed(
          fmt::format("`reps` is [{}], but its entries must be positive", fmt::join(reps, ", ")));
  size_t rank = std::max(reps.size(), call.rank(0));
  reps.insert(reps.begin(), rank - reps.size(), 1);
  DimVector shape(rank - call.rank(0), call.types.constant(1));
  shape.insert(shape.end(), call.shape(0).begin(), call.shape(0).end());
  for (size_t i = 0; i < rank; ++i) {
    shape[i] = timesChecked(call.types, shape[i], call.types.constant(reps[i]));
    if (!shape[i])
      return call.failedForSize(fmt::format("the shape `{}` repeated [{}] times is too large",
                                            shapeText(call.shape(0)), fmt::join(reps, ", ")));
  }
  return call.solved(shape, call.dtype(0));
}

RelationResult repeatRelation(const RelationCall& call) {
  int64_t repeats = call.attributes.integer("repeats");
  if (repeats < 1)
    return call.failed(fmt::format("`repeats` is {}, but it must be positive", repeats));
  DimVector shape(call.shape(0).begin(), call.shape(0).end());
  size_t axis = 0;
  if (call.attributes.isNull("axis")) {
    shape = {product(call.types, call.shape(0))};
  } else {
    int64_t given = call.attributes.integer("axis");
    auto normal = call.normalAxis(given, call.rank(0));
    if (!normal)
      return axisFailure(call, "axis", given);
    axis = *normal;
  }
  shape[axis] = timesChecked(call.types, shape[axis], call.types.constant(repeats));
  if (!shape[axis])
    return call.failedForSize(fmt::format("the shape `{}` repeated {} times is too large",
                                          shapeText(call.shape(0)), repeats));
  return call.solved(shape, call.dtype(0));
}

/// The piece whose range of `at` is met: piece k covers positions below ends[k].
Scalar pieceAt(std::vector<Scalar> pieces, std::vector<Scalar> ends, Scalar at) {
  while (pieces.size() > 1) {
    size_t kept = 0;
    for (size_t i = 0; i < pieces.size(); i += 2, ++kept) {
      bool paired = i + 1 < pieces.size();
      pieces[kept] = paired ? select(at < ends[i], pieces[i], pieces[i + 1]) : pieces[i];
      ends[kept] = ends[paired ? i + 1 : i];
    }
    pieces.resize(kept);
    ends.resize(kept);
  }
  return pieces[0];
}

} // namespace

void resultJoined(ComputeCall& call, const std::vector<TensorHandle>& fields, size_t axis) {
  call.result([&](const Position& at) {
    std::vector<Scalar> pieces, ends;
    Scalar start = call.integer(0);
    for (const TensorHandle& field : fields) {
      pieces.push_back(field(replaceAt(at, axis, at[axis] - start)));
      start = start + field.extent(axis);
      ends.push_back(start);
    }
    return pieceAt(std::move(pieces), std::move(ends), at[axis]);
  });
}

namespace {

void computeConcatenate(ComputeCall& call) {
  std::vector<TensorHandle> fields = call.fields(0);
  resultJoined(call, fields, call.axis("axis", fields[0].rank()));
}

void computeStack(ComputeCall& call) {
  std::vector<TensorHandle> fields = call.fields(0);
  size_t axis = call.axis("axis", fields[0].rank() + 1);
  call.result([&](const Position& at) {
    std::vector<Scalar> pieces, ends;
    for (size_t k = 0; k < fields.size(); ++k) {
      pieces.push_back(fields[k](eraseAt(at, axis)));
      ends.push_back(call.integer(int64_t(k) + 1));
    }
    return pieceAt(std::move(pieces), std::move(ends), at[axis]);
  });
}

void computeSplit(ComputeCall& call) {
  TensorHandle x = call.input(0);
  size_t axis = call.axis("axis", x.rank());
  Scalar start = call.integer(0);
  for (size_t k = 0; k < call.outputCount(); ++k) {
    call.result([&](const Position& at) { return x(replaceAt(at, axis, at[axis] + start)); });
    start = start + call.outputShape(k)[axis];
  }
}

void computeTile(ComputeCall& call) {
  TensorHandle x = call.input(0);
  std::vector<int64_t> reps = call.attributes().integers("reps");
  call.result([&](const Position& at) {
    Position from(at.end() - ptrdiff_t(x.rank()), at.end());
    for (size_t i = 0; i < x.rank(); ++i) {
      size_t behind = x.rank() - i;
      if (behind <= reps.size() && reps[reps.size() - behind] != 1)
        from[i] = floorMod(from[i], x.extent(i));
    }
    return x(from);
  });
}

void computeRepeat(ComputeCall& call) {
  TensorHandle x = call.input(0);
  int64_t repeats = call.attributes().integer("repeats");
  size_t axis = 0;
  if (call.attributes().isNull("axis")) {
    Scalar one = call.integer(1);
    x = call.reshape(x, {productOf(one.arena(), x.shape())});
  } else {
    axis = call.axis("axis", x.rank());
  }
  call.result([&](const Position& at) {
    return x(replaceAt(at, axis, floorDivide(at[axis], call.integer(repeats))));
  });
}

constexpr OperandRow data[] = {{"data", "the input"}};
constexpr OperandRow tuple[] = {{"data", "the tensors, in order", OperandKind::TensorTuple}};

constexpr AttributeRow joinAxis[] = {
    {"axis", AttributeKind::Int, "0", "the dimension along which they are joined"}};
constexpr AttributeRow stackAxis[] = {
    {"axis", AttributeKind::Int, "0", "the new dimension", false, true}};
constexpr AttributeRow splitAttributes[] = {
    {"indices_or_sections", AttributeKind::IntOrIntList, "",
     "the number of equal parts, or the positions where to cut"},
    {"axis", AttributeKind::Int, "0", "the dimension to cut"}};
constexpr AttributeRow tileAttributes[] = {
    {"reps", AttributeKind::IntList, "", "how often to repeat each of the last dimensions"}};
constexpr AttributeRow repeatAttributes[] = {
    {"repeats", AttributeKind::Int, "", "how often to repeat each element", false, true},
    {"axis", AttributeKind::Int, "None", "the dimension that grows; flattens if missing", true}};
constexpr Example concatenateExamples[] = {
    {"concatenate(([[1f], [2f]], [[3f], [4f]]), axis=1)", "[[1f, 3f], [2f, 4f]]"},
    {"concatenate(([1], [2, 3], [4]))", "[1, 2, 3, 4]"}};
constexpr Example stackExamples[] = {
    {"stack(([1f, 2f], [3f, 4f]), axis=-1)", "[[1f, 3f], [2f, 4f]]"}};
constexpr Example splitExamples[] = {
    {"split([1f, 2f, 3f, 4f], indices_or_sections=2)", "([1f, 2f], [3f, 4f])"},
    {"split([1f, 2f, 3f, 4f], indices_or_sections=[1])", "([1f], [2f, 3f, 4f])"}};
constexpr Example tileExamples[] = {
    {"tile([1f, 2f], reps=[2, 2])", "[[1f, 2f, 1f, 2f], [1f, 2f, 1f, 2f]]"}};
constexpr Example repeatExamples[] = {
    {"repeat([[1f, 2f]], repeats=2, axis=1)", "[[1f, 1f, 2f, 2f]]"}};
/// The part of the cotangent that field `k` became, where extents may be unknown: a prefix is cut
/// off from the front, then the part from its end.
Term concatenatedPart(GradientCall& d, size_t k, size_t axis) {
  Term head = d.cotangent();
  if (k + 1 < d.fieldCount(0)) {
    std::vector<Term> fields;
    for (size_t i = 0; i <= k; ++i)
      fields.push_back(d.field(0, i));
    head = d.call("slice_like", {head, concatenated(fields, axis)}, {{"axes", std::vector{axis}}});
  }
  if (k == 0)
    return head;
  Term tail =
      d.call("slice_like", {reversed(head, axis), d.field(0, k)}, {{"axes", std::vector{axis}}});
  return reversed(tail, axis);
}

void concatenateGradient(GradientCall& d) {
  Types fields = d.operand(0).type()->parts;
  size_t axis = d.axis("axis", d.cotangent().rank());
  if (fields.size() == 1)
    return giveField(d, 0, 0, d.cotangent());
  std::vector<int64_t> cuts;
  int64_t end = 0;
  for (const Type* field : fields)
    if (field->shape[axis]->isConstant() && field->shape[axis]->value > 0)
      cuts.push_back(end += field->shape[axis]->value);
  bool isKnown = cuts.size() == fields.size();
  if (isKnown) {
    cuts.pop_back();
    Term parts = d.call("split", {d.cotangent()}, {{"indices_or_sections", cuts}, {"axis", axis}});
    for (size_t k = 0; k < fields.size(); ++k)
      giveField(d, 0, k, d.project(parts, k));
    return;
  }
  for (size_t k = 0; k < fields.size(); ++k)
    giveField(d, 0, k, concatenatedPart(d, k, axis));
}

void stackGradient(GradientCall& d) {
  for (size_t k = 0; k < d.fieldCount(0); ++k)
    giveField(d, 0, k,
              take(d.cotangent(), d.number(runtime::Int32, double(k)),
                   d.axis("axis", d.cotangent().rank())));
}

void splitGradient(GradientCall& d) {
  std::vector<Term> parts;
  for (size_t k = 0; k < d.result().type()->parts.size(); ++k)
    parts.push_back(incoming(d, k));
  give(d, 0, concatenated(parts, d.axis("axis", d.operand(0).rank())));
}

/// Splits each repeated dimension into repetition and extent, and sums over the former.
void tileGradient(GradientCall& d) {
  Term x = d.operand(0);
  std::vector<int64_t> reps = d.attributes().integers("reps"), shape;
  size_t rank = std::max(reps.size(), x.rank());
  reps.insert(reps.begin(), rank - reps.size(), 1);
  if (std::ranges::find(reps, 0) != reps.end())
    return give(d, 0, zerosLike(x));
  std::vector<size_t> axes;
  size_t dims = 0;
  for (size_t i = 0; i < rank; ++i) {
    bool isNew = i < rank - x.rank(), isSplit = !isNew && reps[i] != 1;
    if (isSplit)
      shape.insert(shape.end(), {-4, reps[i], -1});
    else
      shape.push_back(0);
    if (isNew || isSplit)
      axes.push_back(dims);
    dims += isSplit ? 2 : 1;
  }
  give(d, 0, axes.empty() ? d.cotangent() : sum(reshaped(d.cotangent(), shape), axes));
}

void repeatGradient(GradientCall& d) {
  Term x = d.operand(0);
  int64_t repeats = d.attributes().integer("repeats");
  if (repeats == 0)
    return give(d, 0, zerosLike(x));
  if (d.attributes().isNull("axis"))
    return give(d, 0, reshapedLike(sum(reshaped(d.cotangent(), {-1, repeats}), {1}), x));
  size_t axis = d.axis("axis", x.rank());
  std::vector<int64_t> shape(axis, 0);
  shape.insert(shape.end(), {-4, -1, repeats, -2});
  give(d, 0, sum(reshaped(d.cotangent(), shape), {axis + 1}));
}

void simplifyConcatenate(SimplifyCall& s) {
  auto fields = s.fieldsOf(s.operand(0));
  if (fields && fields->size() == 1)
    s.becomesIfTyped(fields->front());
}

/// Repeating once gives the data, with new dimensions of extent 1 at most.
void simplifyTile(SimplifyCall& s) {
  std::vector<int64_t> counts = s.attributes().integers("reps");
  Dims shape = s.resultType()->shape;
  if (!std::ranges::all_of(counts, [](int64_t count) { return count == 1; }))
    return;
  if (!s.becomesIfTyped(s.operand(0)) && isStatic(shape))
    s.becomesIfTyped(reshapedTo(s.operand(0), shape));
}

void simplifyRepeat(SimplifyCall& s) {
  if (s.attributes().integer("repeats") == 1)
    s.becomesIfTyped(s.operand(0));
}

constexpr SimplifyExample concatenateSimpler[] = {{"concatenate((%n,), axis=0)", "%n"}};
constexpr SimplifyExample tileSimpler[] = {
    {"tile(%n, reps=[1, 1])", "%n"},
    {"tile(%x, reps=[1, 1, 1])", "reshape(%x, newshape=[1, 2, 3])"}};
constexpr SimplifyExample repeatSimpler[] = {{"repeat(%n, repeats=1, axis=1)", "%n"}};

constexpr OperatorRow rows[] = {
    {.name = "concatenate",
     .synonyms = "cat concat",
     .doc = "Joins tensors along a dimension that they have.",
     .operands = tuple,
     .attributes = joinAxis,
     .attributesKey = "relay.attrs.ConcatenateAttrs",
     .relation = withFix<concatenateRelation, fixConcatenate>,
     .compute = computeConcatenate,
     .gradient = GradientRule{concatenateGradient},
     .simplify = {simplifyConcatenate, concatenateSimpler},
     .examples = concatenateExamples},
    {.name = "stack",
     .doc = "Joins tensors of one shape along a new dimension.",
     .operands = tuple,
     .attributes = stackAxis,
     .attributesKey = "relay.attrs.StackAttrs",
     .relation = stackRelation,
     .compute = computeStack,
     .role = Role::Stack,
     .gradient = GradientRule{stackGradient},
     .examples = stackExamples},
    {.name = "split",
     .synonyms = "chunk array_split",
     .doc = "Cuts a tensor along a dimension into a tuple of tensors.",
     .details =
         "A number asks for that many equal parts; a list gives the positions where parts end, "
         "so that n positions make n + 1 parts.",
     .operands = data,
     .attributes = splitAttributes,
     .attributesKey = "relay.attrs.SplitAttrs",
     .relation = withFix<splitRelation, fixSplit>,
     .compute = computeSplit,
     .gradient = GradientRule{splitGradient},
     .examples = splitExamples},
    {.name = "tile",
     .doc = "Repeats a tensor as a whole along its dimensions.",
     .details = "The shorter one of shape and `reps` is filled up with ones in front.",
     .operands = data,
     .attributes = tileAttributes,
     .attributesKey = "relay.attrs.TileAttrs",
     .relation = tileRelation,
     .compute = computeTile,
     .gradient = GradientRule{tileGradient},
     .simplify = {simplifyTile, tileSimpler},
     .examples = tileExamples},
    {.name = "repeat",
     .synonyms = "repeat_interleave",
     .doc = "Repeats each element along a dimension.",
     .operands = data,
     .attributes = repeatAttributes,
     .attributesKey = "relay.attrs.RepeatAttrs",
     .relation = repeatRelation,
     .compute = computeRepeat,
     .gradient = GradientRule{repeatGradient},
     .simplify = {simplifyRepeat, repeatSimpler},
     .examples = repeatExamples},
};

} // namespace

OperatorFamily joinFamily() {
  return rows;
}

} // namespace stdlib
