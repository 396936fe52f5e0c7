// Products of matrices: dense layers, matmul and batch_matmul.
//
// nn.dense is nn.matmul with its second operand transposed; one rule serves both. The second
// operand of both is a matrix; the first has any number of leading dimensions.
#include "stdlib/ops/conv_call.h"
#include "stdlib/ops/families.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::DType;

struct Transposes {
  bool a = false;
  bool b = false;
};

Transposes denseTransposes(const Attributes&) {
  return {false, true};
}
Transposes matmulTransposes(const Attributes& attributes) {
  return {attributes.boolean("transpose_a"), attributes.boolean("transpose_b")};
}
using ReadTransposes = Transposes (*)(const Attributes&);

std::string_view transposedText(bool isTransposed) {
  return isTransposed ? " transposed" : "";
}

RelationResult innerProblem(const RelationCall& call, Transposes transposes) {
  return call.failedAt(1, fmt::format("the inner extents differ: {}{} times {}{}",
                                      shapeText(call.shape(0)), transposedText(transposes.a),
                                      shapeText(call.shape(1)), transposedText(transposes.b)));
}

/// Checks the second operand, a matrix; its number of columns (after transposing) or the problem.
std::variant<const Dim*, RelationResult> columnsOf(const RelationCall& call, Transposes transposes,
                                                   const Dim* inner, const Dim* units) {
  if (call.rank(1) != 2)
    return call.failedAt(1, fmt::format("the second operand must be a matrix, but its shape is {}",
                                        shapeText(call.shape(1))));
  if (auto problem = requireLikeNumbers(call))
    return *problem;
  const Dim *rows = call.shape(1)[transposes.b ? 1 : 0], *columns = call.shape(1)[!transposes.b];
  if (matchDims(inner, rows) == DimMatch::Different)
    return innerProblem(call, transposes);
  if (!units)
    return columns;
  const Dim* met = meetDims(units, columns);
  if (met)
    return met;
  return call.failedAt(
      1, fmt::format("`units` is {}, but the second operand, of shape {}{}, has {}", dimText(units),
                     shapeText(call.shape(1)), transposedText(transposes.b), dimText(columns)));
}

template <ReadTransposes transposesOf>
RelationResult relate(const RelationCall& call) {
  Transposes transposes = transposesOf(call.attributes);
  size_t rank = call.rank(0), least = transposes.a ? 2 : 1;
  if (rank < least)
    return call.failedAt(0, fmt::format("the first operand must have at least {} dimension{}, but "
                                        "its shape is {}",
                                        least, least == 1 ? "" : "s", shapeText(call.shape(0))));
  std::vector<const Dim*> shape(call.shape(0).begin(), call.shape(0).end());
  if (transposes.a)
    std::swap(shape[rank - 2], shape[rank - 1]);
  const Dim *inner = shape.back(), *units = nullptr;
  if (!call.attributes.isNull("units")) {
    int64_t count = call.attributes.integer("units");
    if (count < 0)
      return call.failed(fmt::format("`units` must not be negative, but it is {}", count));
    units = call.types.constant(count);
  }
  DType dtype = call.attributes.dtype("out_dtype").value_or(call.dtype(0));
  if (!call.isKnown(1)) {
    if (!units)
      return call.waitFor(1);
    shape.back() = units;
    RelationResult result = call.solved(shape, dtype);
    result.operands.emplace_back(1, transposes.b
                                        ? call.types.tensor({units, inner}, call.dtype(0))
                                        : call.types.tensor({inner, units}, call.dtype(0)));
    return result;
  }
  auto columns = columnsOf(call, transposes, inner, units);
  if (auto* problem = std::get_if<RelationResult>(&columns))
    return *problem;
  shape.back() = std::get<const Dim*>(columns);
  return call.solved(shape, dtype);
}

template <ReadTransposes transposesOf>
void compute(ComputeCall& call) {
  Transposes transposes = transposesOf(call.attributes());
  TensorHandle a = call.input(0), b = call.input(1);
  DType dtype = call.outputDType();
  size_t last = a.rank() - 1;
  call.result([&](const Position& at) {
    return call.sumOver({b.extent(transposes.b ? 1 : 0)}, [&](const Position& k) {
      Position left = replaceAt(at, last, k[0]);
      if (transposes.a)
        std::swap(left[last - 1], left[last]);
      Position right = transposes.b ? Position{at[last], k[0]} : Position{k[0], at[last]};
      return cast(a(left), dtype) * cast(b(right), dtype);
    });
  });
}

RelationResult relateBatches(const RelationCall& call) {
  for (size_t i = 0; i < 2; ++i)
    if (call.rank(i) != 3)
      return call.failedAt(i, fmt::format("the operands must have 3 dimensions, but their shapes "
                                          "are {} and {}",
                                          shapeText(call.shape(0)), shapeText(call.shape(1))));
  if (auto problem = requireLikeNumbers(call))
    return *problem;
  Transposes transposes = matmulTransposes(call.attributes);
  Dims a = call.shape(0), b = call.shape(1);
  const Dim* batches = broadcastDims(a[0], b[0]);
  if (!batches)
    return call.failedAt(1, fmt::format("the numbers of matrices, {} and {}, must be equal or 1",
                                        dimText(a[0]), dimText(b[0])));
  if (matchDims(a[transposes.a ? 1 : 2], b[transposes.b ? 2 : 1]) == DimMatch::Different)
    return innerProblem(call, transposes);
  return call.solved({batches, a[transposes.a ? 2 : 1], b[transposes.b ? 1 : 2]},
                     call.attributes.dtype("out_dtype").value_or(call.dtype(0)));
}

void computeBatches(ComputeCall& call) {
  Transposes transposes = matmulTransposes(call.attributes());
  TensorHandle a = call.input(0), b = call.input(1);
  DType dtype = call.outputDType();
  auto batchOf = [&](const TensorHandle& operand, Scalar batch) {
    return operand.extent(0).asInteger() == 1 ? call.integer(0) : batch;
  };
  call.result([&](const Position& at) {
    return call.sumOver({a.extent(transposes.a ? 1 : 2)}, [&](const Position& k) {
      Position left{batchOf(a, at[0]), at[1], k[0]}, right{batchOf(b, at[0]), k[0], at[2]};
      if (transposes.a)
        std::swap(left[1], left[2]);
      if (transposes.b)
        std::swap(right[1], right[2]);
      return cast(a(left), dtype) * cast(b(right), dtype);
    });
  });
}

std::string inDType(const std::string& text, DType has, DType wanted) {
  return has == wanted ? text : fmt::format("cast({}, dtype=\"{}\")", text, dtypeName(wanted));
}

std::string matmulText(std::string_view a, std::string_view b, Transposes transposes) {
  return fmt::format("nn.matmul({}, {}, units=None, transpose_a={}, transpose_b={})", a, b,
                     transposes.a ? "True" : "False", transposes.b ? "True" : "False");
}

/// `text`, whose rank is given, with its leading dimensions joined to rows.
std::string asMatrix(std::string text, size_t rank) {
  if (rank == 1)
    return fmt::format("expand_dims({}, axis=0)", text);
  for (; rank > 2; --rank) {
    std::string copies;
    for (size_t i = 2; i < rank; ++i)
      copies += ", 0";
    text = fmt::format("reshape({}, newshape=[-3{}])", text, copies);
  }
  return text;
}

/// `text` with its last two dimensions exchanged.
std::string lastTransposed(std::string_view text, size_t rank) {
  std::string axes;
  for (size_t i = 0; i + 2 < rank; ++i)
    axes += fmt::format("{}, ", i);
  return fmt::format("transpose({}, axes=[{}{}, {}])", text, axes, rank - 1, rank - 2);
}

/// The rule of a product of `a`, of the rank of operand 0, and the matrix `b`.
std::string gradientOf(const RelationCall& call, Transposes transposes, std::string_view a,
                       std::string_view b) {
  size_t rank = call.rank(0);
  DType has = call.attributes.dtype("out_dtype").value_or(call.dtype(0));
  std::string byA = matmulText("%cotangent", b, {false, !transposes.b});
  if (transposes.a)
    byA = lastTransposed(byA, rank);
  std::string left = asMatrix(transposes.a ? lastTransposed(a, rank) : std::string(a), rank);
  std::string right = asMatrix("%cotangent", rank);
  std::string byB = transposes.b ? matmulText(right, left, {true, false})
                                 : matmulText(left, right, {true, false});
  return fmt::format("({}, {})", inDType(byA, has, call.dtype(0)),
                     inDType(byB, transposes.b ? has : call.dtype(0), call.dtype(1)));
}

std::string gradientOfDense(const RelationCall& call) {
  return gradientOf(call, denseTransposes(call.attributes), "%data", "%weight");
}

std::string gradientOfMatmul(const RelationCall& call) {
  return gradientOf(call, matmulTransposes(call.attributes), "%tensor_a", "%tensor_b");
}

std::string gradientOfBatches(const RelationCall& call) {
  Transposes t = matmulTransposes(call.attributes);
  DType has = call.attributes.dtype("out_dtype").value_or(call.dtype(0));
  auto product = [](std::string_view a, std::string_view b, bool transposeA, bool transposeB) {
    return fmt::format("nn.batch_matmul({}, {}, transpose_a={}, transpose_b={})", a, b,
                       transposeA ? "True" : "False", transposeB ? "True" : "False");
  };
  std::string_view g = "%cotangent";
  std::string a = t.a ? product("%tensor_b", g, t.b, true) : product(g, "%tensor_b", false, !t.b);
  std::string b = t.b ? product(g, "%tensor_a", true, t.a) : product("%tensor_a", g, !t.a, false);
  return fmt::format("({}, {})", inDType(a, t.a ? call.dtype(1) : has, call.dtype(0)),
                     inDType(b, t.b ? has : call.dtype(0), call.dtype(1)));
}

constexpr OperandRow matmulOperands[] = {
    {"tensor_a", "rows with any leading dimensions, or columns when transposed"},
    {"tensor_b", "a matrix", OperandKind::Tensor, true},
};
constexpr OperandRow denseOperands[] = {
    {"data", "rows of features, with any leading dimensions"},
    {"weight", "a matrix `[units, features]`", OperandKind::Tensor, true},
};
constexpr OperandRow batchOperands[] = {
    {"tensor_a", "one matrix, or one per batch"},
    {"tensor_b", "one matrix, or one per batch"},
};

constexpr AttributeRow unitsRow{"units", AttributeKind::Int, "",
                                "columns of the result; None takes them from the second operand",
                                true};
constexpr AttributeRow outDTypeRow{
    "out_dtype", AttributeKind::DType, "\"\"",
    "element type of sum and result; that of the first operand if empty"};
constexpr AttributeRow transposeARow{"transpose_a", AttributeKind::Bool, "False",
                                     "exchange the last two dimensions of the first operand"};
constexpr AttributeRow transposeBRow{"transpose_b", AttributeKind::Bool, "False",
                                     "exchange the last two dimensions of the second operand"};

constexpr AttributeRow denseAttributes[] = {unitsRow, outDTypeRow};
constexpr AttributeRow matmulAttributes[] = {unitsRow, outDTypeRow, transposeARow, transposeBRow};
constexpr AttributeRow batchAttributes[] = {outDTypeRow, transposeARow, transposeBRow};

constexpr std::string_view unitsDetails =
    "Both operands are converted to `out_dtype` first. When `units` is given, the type of the "
    "matrix is inferred; the inner extents must agree in any case.";

constexpr Example denseExamples[] = {
    {"nn.dense([[1f, 2f]], [[3f, 4f], [5f, 6f]], units=None)", "[[11f, 17f]]"},
    {"nn.dense([1, 2], [[3, 4]], units=1)", "[11]"},
};
constexpr Example matmulExamples[] = {
    {"nn.matmul([[1f, 2f]], [[3f, 4f], [5f, 6f]], units=None)", "[[13f, 16f]]"},
    {"nn.matmul([[1f], [2f]], [[3f, 5f]], units=None, transpose_a=True, transpose_b=True)",
     "nn.matmul([[1f, 2f]], [[3f], [5f]], units=None)"},
};
constexpr Example batchExamples[] = {
    {"nn.batch_matmul([[[1f, 2f]]], [[[3f, 4f]], [[5f, 6f]]], transpose_b=True)",
     "[[[11f]], [[17f]]]"},
};

constexpr OperatorRow rows[] = {
    {
        .name = "nn.dense",
        .doc = "Multiplies rows of features with a matrix of weights.",
        .details = unitsDetails,
        .operands = denseOperands,
        .attributes = denseAttributes,
        .attributesKey = "relay.attrs.DenseAttrs",
        .relation = relate<denseTransposes>,
        .compute = compute<denseTransposes>,
        .gradient = GradientBuilder{gradientOfDense},
        .examples = denseExamples,
    },
    {
        .name = "nn.matmul",
        .doc = "The product of matrices, with leading dimensions in the first.",
        .details = unitsDetails,
        .operands = matmulOperands,
        .attributes = matmulAttributes,
        .attributesKey = "relay.attrs.MatmulAttrs",
        .relation = relate<matmulTransposes>,
        .compute = compute<matmulTransposes>,
        .gradient = GradientBuilder{gradientOfMatmul},
        .examples = matmulExamples,
    },
    {
        .name = "nn.batch_matmul",
        .doc = "Products of matrices, batch by batch.",
        .details = "A single matrix on one side meets all of the other side. Both operands are "
                   "converted to `out_dtype` first.",
        .operands = batchOperands,
        .attributes = batchAttributes,
        .attributesKey = "relay.attrs.BatchMatmulAttrs",
        .relation = relateBatches,
        .compute = computeBatches,
        .gradient = GradientBuilder{gradientOfBatches},
        .examples = batchExamples,
    },
};

} // namespace

OperatorFamily denseFamily() {
  return rows;
}

} // namespace stdlib
