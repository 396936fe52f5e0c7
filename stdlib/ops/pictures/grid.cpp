// Operators that lay indices out over dimensions: grids, triangles, one-hot vectors, masks of
// sequences.
//
// Every choice depends on positions and on integer operands, never on the size of the data.
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::DType;
using runtime::dtypeName;

/// Which dimension of the grids belongs to each field: `xy` swaps the first two.
size_t gridDim(const Attributes& attributes, size_t field, size_t fieldCount) {
  bool swaps = attributes.text("indexing") == "xy" && fieldCount >= 2 && field < 2;
  return swaps ? 1 - field : field;
}

RelationResult meshgridRelation(const RelationCall& call) {
  std::string_view indexing = call.attributes.text("indexing");
  if (indexing != "ij" && indexing != "xy")
    return call.failed(fmt::format("`indexing` is `{}`, but must be `ij` or `xy`", indexing));
  Types fields = call.fields(0);
  if (fields.empty())
    return call.failedAt(0, "the tuple must have a field");
  std::vector<const Dim*> shape(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i]->shape.size() > 1)
      return call.failedAt(0, fmt::format("field {} must have rank 0 or 1, but its shape is `{}`",
                                          i, shapeText(fields[i]->shape)));
    if (fields[i]->dtype != fields[0]->dtype)
      return call.failedAt(0, words("the element types of fields 0 and {} differ: `{}` and "
                                    "`{}`",
                                    i, fields[0]->dtype, fields[i]->dtype));
    shape[gridDim(call.attributes, i, fields.size())] =
        fields[i]->shape.empty() ? call.types.constant(1) : fields[i]->shape[0];
  }
  const Type* grid = call.types.tensor(Dims(shape), fields[0]->dtype);
  std::vector<const Type*> grids(fields.size(), grid);
  return call.solved(call.types.tuple(grids));
}

void meshgrid(ComputeCall& call) {
  std::vector<TensorHandle> fields = call.fields(0);
  for (size_t i = 0; i < fields.size(); ++i) {
    size_t dim = gridDim(call.attributes(), i, fields.size());
    call.result([&](const Position& at) {
      return fields[i](fields[i].rank() == 0 ? Position{} : Position{at[dim]});
    });
  }
}

RelationResult triluRelation(const RelationCall& call) {
  if (call.rank(0) < 2)
    return call.failedAt(0, fmt::format("`data` must have rank 2 at least, but its shape is `{}`",
                                        shapeText(call.shape(0))));
  if (auto problem = requireScalar(call, 1, "k"))
    return *problem;
  if (!call.dtype(1).isInteger())
    return call.failedAt(1, words("`k` must be an integer, but it is `{}`", call.dtype(1)));
  return sameAsFirst(call);
}

void trilu(ComputeCall& call) {
  TensorHandle x = call.input(0), k = call.input(1);
  bool upper = call.attributes().boolean("upper");
  call.result([&](const Position& at) {
    Scalar diagonal = at[at.size() - 1] - at[at.size() - 2];
    Scalar offset = cast(k({}), runtime::Int64);
    return select(upper ? diagonal >= offset : diagonal <= offset, x(at),
                  call.number(x.dtype(), 0));
  });
}

RelationResult oneHotRelation(const RelationCall& call) {
  if (!call.dtype(0).isInteger())
    return call.failedAt(0, words("`indices` must be integer, but they are `{}`", call.dtype(0)));
  for (size_t i = 1; i < 3; ++i)
    if (auto problem = requireScalar(call, i, i == 1 ? "on_value" : "off_value"))
      return *problem;
  int64_t depth = call.attributes.integer("depth"), axis = call.attributes.integer("axis");
  if (depth <= 0)
    return call.failed(fmt::format("`depth` is {}, but must be positive", depth));
  auto normal = call.normalAxis(axis, call.rank(0) + 1);
  if (!normal)
    return call.failed(
        fmt::format("axis {} does not exist in a result of rank {}", axis, call.rank(0) + 1));
  std::vector<const Dim*> shape(call.shape(0).begin(), call.shape(0).end());
  shape.insert(shape.begin() + ptrdiff_t(*normal), call.types.constant(depth));
  return call.solved(shape, call.attributes.dtype("dtype").value_or(call.dtype(1)));
}

void oneHot(ComputeCall& call) {
  TensorHandle indices = call.input(0), on = call.input(1), off = call.input(2);
  size_t axis = call.axis("axis", indices.rank() + 1);
  DType dtype = call.outputDType();
  call.result([&](const Position& at) {
    Scalar index = cast(indices(eraseAt(at, axis)), runtime::Int64);
    return select(index == at[axis], cast(on({}), dtype), cast(off({}), dtype));
  });
}

RelationResult sequenceMaskRelation(const RelationCall& call) {
  if (call.rank(0) < 2)
    return call.failedAt(0, fmt::format("`data` must have rank 2 at least, but its shape is `{}`",
                                        shapeText(call.shape(0))));
  int64_t axis = call.attributes.integer("axis");
  if (axis != 0 && axis != 1)
    return call.failed(fmt::format("`axis` is {}, but must be 0 or 1", axis));
  const Dim* batch = call.shape(0)[size_t(1 - axis)];
  if (call.isKnown(1) && (call.rank(1) != 1 || !call.meetDims(call.shape(1)[0], batch)))
    return call.failedAt(1, fmt::format("`valid_length` must have shape `{}`, one length per "
                                        "sequence, but its shape is `{}`",
                                        shapeText(Dims(&batch, 1)), shapeText(call.shape(1))));
  return sameAsFirst(call);
}

void sequenceMask(ComputeCall& call) {
  TensorHandle x = call.input(0), lengths = call.input(1);
  size_t axis = size_t(call.attributes().integer("axis"));
  DType lengthType = lengths.dtype().isFloat() ? lengths.dtype() : runtime::Int64;
  Scalar mask = constantOf(call, x.dtype(), call.attributes().real("mask_value"));
  call.result([&](const Position& at) {
    Scalar length = cast(lengths({at[1 - axis]}), lengthType);
    return select(cast(at[axis], lengthType) >= length, mask, x(at));
  });
}

constexpr OperandRow meshgridOperands[] = {
    {"data", "vectors or scalars, one per dimension", OperandKind::TensorTuple}};
constexpr OperandRow triluOperands[] = {
    {"data", "matrices in the last two dimensions"},
    {"k", "the diagonal, of rank 0: 0 is the main one, positive ones lie above"}};
constexpr OperandRow oneHotOperands[] = {
    {"indices", "integers; those outside 0 .. depth-1 give no hot element"},
    {"on_value", "the value at an index, of rank 0"},
    {"off_value", "the value elsewhere, of rank 0"}};
constexpr OperandRow sequenceMaskOperands[] = {
    {"data", "sequences, their length in dimension `axis` and the batch in the other of 0 and 1"},
    {"valid_length", "the length of each sequence"}};

constexpr AttributeRow meshgridAttributes[] = {{"indexing", AttributeKind::String, "\"ij\"",
                                                "`ij`, or `xy` to swap the first two dimensions"}};
constexpr AttributeRow triluAttributes[] = {
    {"upper", AttributeKind::Bool, "True", "whether the upper triangle is kept, or the lower"}};
constexpr AttributeRow oneHotAttributes[] = {
    {"depth", AttributeKind::Int, "1", "the extent of the new dimension"},
    {"axis", AttributeKind::Int, "-1", "where the new dimension stands in the result"},
    {"dtype", AttributeKind::DType, "\"\"",
     "the type of the result; that of `on_value` when it is unset"}};
constexpr AttributeRow sequenceMaskAttributes[] = {
    {"mask_value", AttributeKind::Float, "0", "the value behind the end"},
    {"axis", AttributeKind::Int, "0", "the dimension of the length, 0 or 1"}};

constexpr Example meshgridExamples[] = {
    {"meshgrid(([1, 2], [3, 4, 5]))", "([[1, 1, 1], [2, 2, 2]], [[3, 4, 5], [3, 4, 5]])"}};
constexpr Example triluExamples[] = {
    {"trilu([[1, 2], [3, 4]], 0)", "[[1, 2], [0, 4]]"},
    {"trilu([[1, 2], [3, 4]], -1, upper=False)", "[[0, 0], [3, 0]]"}};
constexpr Example oneHotExamples[] = {
    {"one_hot([0, 2], 1f, 0f, depth=3, dtype=\"float32\")", "[[1f, 0f, 0f], [0f, 0f, 1f]]"}};
constexpr Example sequenceMaskExamples[] = {
    {"sequence_mask([[1f, 2f], [3f, 4f]], [1, 2])", "[[1f, 2f], [0f, 4f]]"},
    {"sequence_mask([[1f, 2f], [3f, 4f]], [1, 2], mask_value=9f, axis=1)", "[[1f, 9f], [3f, 4f]]"}};

void meshgridGradient(GradientCall& d) {
  size_t count = d.fieldCount(0);
  for (size_t i = 0; i < count; ++i) {
    if (!d.hasCotangent(i))
      continue;
    Term all = d.cotangent(i);
    bool isScalar = d.operand(0).type()->parts[i]->shape.empty();
    giveField(d, 0, i,
              isScalar ? sumOfAll(all) : summedExcept(all, gridDim(d.attributes(), i, count)));
  }
}

void triluGradient(GradientCall& d) {
  give(d, 0, d.call("trilu", {d.cotangent(), d.operand(1)}, sameAttributes(d)));
}

void oneHotGradient(GradientCall& d) {
  const Attributes& attributes = d.attributes();
  Term hot = d.call(
      "one_hot", {d.operand(0), d.number(runtime::Bool, 1), d.number(runtime::Bool, 0)},
      {{"depth", attributes.get("depth")}, {"axis", attributes.get("axis")}, {"dtype", "bool"}});
  give(d, 1, castTo(sumOfAll(maskedBy(hot, d.cotangent())), d.operand(1).dtype()));
  give(d, 2, castTo(sumOfAll(unlessMasked(hot, d.cotangent())), d.operand(2).dtype()));
}

void sequenceMaskGradient(GradientCall& d) {
  give(d, 0,
       d.call("sequence_mask", {d.cotangent(), d.operand(1)},
              {{"axis", d.attributes().get("axis")}}));
}

constexpr OperatorRow rows[] = {
    {.name = "meshgrid",
     .doc = "The coordinates of a grid: each vector repeated along the dimensions of the others.",
     .details = "All results have one dimension per field; a scalar counts as a vector of one.",
     .operands = meshgridOperands,
     .attributes = meshgridAttributes,
     .attributesKey = "relay.attrs.MeshgridAttrs",
     .relation = meshgridRelation,
     .compute = meshgrid,
     .gradient = GradientRule{meshgridGradient},
     .examples = meshgridExamples},
    {.name = "trilu",
     .synonyms = "tril triu",
     .doc = "The upper or lower triangle of matrices, with zeros elsewhere.",
     .details = "The upper one is `column - row >= k`, the lower one `column - row <= k`.",
     .operands = triluOperands,
     .attributes = triluAttributes,
     .attributesKey = "relay.attrs.TriluAttrs",
     .relation = triluRelation,
     .compute = trilu,
     .gradient = GradientRule{triluGradient},
     .examples = triluExamples,
     .unregisteredAttributes = true},
    {.name = "one_hot",
     .doc = "A new dimension in which each index marks one position.",
     .operands = oneHotOperands,
     .attributes = oneHotAttributes,
     .attributesKey = "relay.attrs.OneHotAttrs",
     .relation = oneHotRelation,
     .compute = oneHot,
     .gradient = GradientRule{oneHotGradient},
     .examples = oneHotExamples},
    {.name = "sequence_mask",
     .doc = "Sequences with every element behind their end replaced by a value.",
     .operands = sequenceMaskOperands,
     .attributes = sequenceMaskAttributes,
     .attributesKey = "relay.attrs.SequenceMaskAttrs",
     .relation = sequenceMaskRelation,
     .compute = sequenceMask,
     .gradient = GradientRule{sequenceMaskGradient},
     .examples = sequenceMaskExamples},
};

} // namespace

lang::OperatorFamily gridFamily() {
  return rows;
}

} // namespace stdlib
