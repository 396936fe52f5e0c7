// Products of matrices: dense layers, matmul and batch_matmul.
//
// nn.dense is nn.matmul with its second operand transposed; one rule serves both. The second
// operand of both is a matrix; the first has any number of leading dimensions.
#include "stdlib/ops/conv/conv_call.h"
#include "stdlib/ops/conv/dense_forms.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/simplify.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::DType;

struct Transposes {
  bool a = false;
  bool b = false;
  /// What the operands are called.
  std::string_view left = "tensor_a";
  std::string_view right = "tensor_b";

  size_t innerOfB(size_t rank) const { return rank - (b ? 1 : 2); }
  size_t innerOfA(size_t rank) const { return rank - (a ? 2 : 1); }
};

Transposes denseTransposes(const Attributes&) {
  return {false, true, "data", "weight"};
}
Transposes matmulTransposes(const Attributes& attributes) {
  return {attributes.boolean("transpose_a"), attributes.boolean("transpose_b")};
}
using ReadTransposes = Transposes (*)(const Attributes&);

RelationResult innerProblem(const RelationCall& call, Transposes transposes) {
  size_t a = transposes.innerOfA(call.rank(0)), b = transposes.innerOfB(call.rank(1));
  return call.failedOn({{1, b}, {0, a}},
                       fmt::format("the inner dimensions differ: {} of `{}` and {} of `{}`",
                                   dimText(call.shape(0)[a]), transposes.left,
                                   dimText(call.shape(1)[b]), transposes.right));
}

/// Checks the second operand, a matrix; its number of columns (after transposing) or the problem.
std::variant<const Dim*, RelationResult> columnsOf(const RelationCall& call, Transposes transposes,
                                                   const Dim* inner, const Dim* units) {
  if (call.rank(1) != 2)
    return call.failedAt(1, fmt::format("`{}` must have 2 dimensions, but its shape is `{}`",
                                        transposes.right, shapeText(call.shape(1))));
  if (auto problem = requireLikeNumbers(call))
    return *problem;
  size_t columnsAt = transposes.b ? 0 : 1;
  const Dim *rows = call.shape(1)[!columnsAt], *columns = call.shape(1)[columnsAt];
  if (call.differ(inner, rows))
    return innerProblem(call, transposes);
  if (!units)
    return columns;
  const Dim* met = call.meetDims(units, columns);
  if (met)
    return met;
  return call.failedOn({{1, columnsAt}},
                       fmt::format("`units` is {}, but `{}` makes {}", dimText(units),
                                   transposes.right, dimText(columns)));
}

template <ReadTransposes transposesOf>
RelationResult relate(const RelationCall& call) {
  Transposes transposes = transposesOf(call.attributes);
  size_t rank = call.rank(0), least = transposes.a ? 2 : 1;
  if (rank < least)
    return call.failedAt(0, fmt::format("`{}` must have at least {}, but its shape is `{}`",
                                        transposes.left, counted(int64_t(least), "dimension"),
                                        shapeText(call.shape(0))));
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

/// The number of units that the second operand makes, as the attribute.
Fix unitsFix(const RelationCall& call, Relation relation, Transposes transposes) {
  if (!call.isKnown(1) || call.rank(1) != 2 || call.attributes.isNull("units"))
    return std::nullopt;
  const Dim* columns = call.shape(1)[transposes.b ? 0 : 1];
  if (!columns->isConstant())
    return std::nullopt;
  return attributeFix(call, relation, "units", intAttribute(columns->value));
}

Fixes denseFix(const RelationCall& call) {
  Relation relation = relate<denseTransposes>;
  Fixes fixes = allFixes(
      {swapFix(call, relation), unitsFix(call, relation, denseTransposes(call.attributes))});
  addFallbacks(fixes, fixesOf(transposeFix(call, relation, 1,
                                           "`weight` is (units, features): transpose it: {}")));
  if (call.rank(0) > 2 && call.isKnown(1)) {
    const Dim* flat[] = {call.shape(0)[0], product(call.types, call.shape(0).subspan(1))};
    if (Trial(call).shape(0, flat).holds(relation))
      addFallbacks(fixes, {wrapFix("flatten the features: {}", 0, "nn.batch_flatten(", ")")});
  }
  if (call.rank(0) > 0)
    addFallbacks(
        fixes, fixesOf(shapeFix(call, relation, 1, "weight", 1, call.shape(0)[call.rank(0) - 1])));
  return fixes;
}

Fixes matmulFix(const RelationCall& call) {
  Relation relation = relate<matmulTransposes>;
  Transposes transposes = matmulTransposes(call.attributes);
  return firstFixes({attributeFix(call, relation, "transpose_b", boolAttribute(!transposes.b)),
                     attributeFix(call, relation, "transpose_a", boolAttribute(!transposes.a)),
                     unitsFix(call, relation, transposes), swapFix(call, relation)});
}

/// Defines a product of `a`, which has any leading dimensions, and the matrix `b`.
void productResult(ComputeCall& call, Transposes transposes, TensorHandle a, TensorHandle b) {
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

template <ReadTransposes transposesOf>
void compute(ComputeCall& call) {
  productResult(call, transposesOf(call.attributes()), call.input(0), call.input(1));
}

RelationResult relateBatches(const RelationCall& call) {
  for (size_t i = 0; i < 2; ++i)
    if (call.rank(i) != 3)
      return call.failedAt(i,
                           fmt::format("`{}` must have 3 dimensions, but its shape is `{}`",
                                       i == 0 ? "tensor_a" : "tensor_b", shapeText(call.shape(i))));
  if (auto problem = requireLikeNumbers(call))
    return *problem;
  Transposes transposes = matmulTransposes(call.attributes);
  Dims a = call.shape(0), b = call.shape(1);
  const Dim* batches = call.broadcastDims(a[0], b[0]);
  if (!batches)
    return call.failedOn({{1, 0}, {0, 0}},
                         fmt::format("the batches differ: {} of `tensor_a` and {} of `tensor_b`; "
                                     "they must be equal or 1",
                                     dimText(a[0]), dimText(b[0])));
  if (call.differ(a[transposes.a ? 1 : 2], b[transposes.b ? 2 : 1]))
    return innerProblem(call, transposes);
  // As in Relay, a batch that one side leaves open is open in the result.
  if (a[0]->isAny() || b[0]->isAny())
    batches = call.types.any();
  return call.solved({batches, a[transposes.a ? 2 : 1], b[transposes.b ? 1 : 2]},
                     call.attributes.dtype("out_dtype").value_or(call.dtype(0)));
}

/// Each matrix of the smaller batch for several of the other.
Fix repeatFix(const RelationCall& call) {
  if (call.rank(0) != 3 || call.rank(1) != 3)
    return std::nullopt;
  const Dim *a = call.shape(0)[0], *b = call.shape(1)[0];
  size_t small = a->value < b->value ? 0 : 1;
  int64_t many = small == 0 ? b->value : a->value, few = small == 0 ? a->value : b->value;
  if (!a->isConstant() || !b->isConstant() || few < 2 || many % few != 0)
    return std::nullopt;
  std::vector<const Dim*> shape(call.shape(small).begin(), call.shape(small).end());
  shape[0] = call.types.constant(many);
  if (!Trial(call).shape(small, shape).holds(relateBatches))
    return std::nullopt;
  return wrapFix(fmt::format("each matrix for {} of the others: {{}}", many / few), small,
                 "repeat(", fmt::format(", repeats={}, axis=0)", many / few));
}

Fixes batchesFix(const RelationCall& call) {
  Transposes transposes = matmulTransposes(call.attributes);
  Relation relation = relateBatches;
  return firstFixes({attributeFix(call, relation, "transpose_b", boolAttribute(!transposes.b)),
                     attributeFix(call, relation, "transpose_a", boolAttribute(!transposes.a)),
                     repeatFix(call), batchAxisFix(call, relation, 0),
                     batchAxisFix(call, relation, 1), swapFix(call, relation)});
}

} // namespace

RelationResult denseRelation(const RelationCall& call) {
  return relate<denseTransposes>(call);
}

RelationResult batchMatmulRelation(const RelationCall& call) {
  return relateBatches(call);
}

void denseResult(ComputeCall& call, TensorHandle data, TensorHandle weight) {
  productResult(call, denseTransposes(call.attributes()), data, weight);
}

void batchMatmulResult(ComputeCall& call, TensorHandle a, TensorHandle b) {
  Transposes transposes = matmulTransposes(call.attributes());
  DType dtype = call.outputDType();
  Scalar batches = call.outputShape()[0];
  auto batchOf = [&](const TensorHandle& operand, Scalar batch) {
    return broadcastIndex(batch, batches, operand.extent(0));
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

namespace {

void computeBatches(ComputeCall& call) {
  batchMatmulResult(call, call.input(0), call.input(1));
}

Term product(const Term& a, const Term& b, Transposes transposes) {
  if (!transposes.a && transposes.b)
    return a.rule().call("nn.dense", {a, b}, {{"units", AttributeValue{}}});
  return a.rule().call(
      "nn.matmul", {a, b},
      {{"units", AttributeValue{}}, {"transpose_a", transposes.a}, {"transpose_b", transposes.b}});
}

/// The last two dimensions exchanged.
Term lastTransposed(const Term& a) {
  std::vector<size_t> order = allAxes(a.rank());
  std::swap(order[a.rank() - 1], order[a.rank() - 2]);
  return transposed(a, order);
}

template <ReadTransposes read>
void matrixGradient(GradientCall& d) {
  Transposes t = read(d.attributes());
  Term a = d.operand(0), b = d.operand(1), g = d.cotangent();
  DType wide = g.dtype();
  Term weight = castTo(b, wide);
  Term byA = t.a && a.rank() == 2 ? product(weight, g, {t.b, true})
             : t.a                ? lastTransposed(product(g, weight, {false, !t.b}))
                                  : product(g, weight, {false, !t.b});
  give(d, 0, castTo(byA, a.dtype()));
  Term left = asRows(castTo(t.a ? lastTransposed(a) : a, wide)), right = asRows(g);
  Term byB = t.b ? product(right, left, {true, false}) : product(left, right, {true, false});
  give(d, 1, castTo(byB, b.dtype()));
}

void batchGradient(GradientCall& d) {
  Transposes t = matmulTransposes(d.attributes());
  Term g = d.cotangent();
  Term a = castTo(d.operand(0), g.dtype()), b = castTo(d.operand(1), g.dtype());
  auto product = [&](const Term& left, const Term& right, bool transposeA, bool transposeB) {
    return d.call("nn.batch_matmul", {left, right},
                  {{"transpose_a", transposeA}, {"transpose_b", transposeB}});
  };
  Term byA = t.a ? product(b, g, t.b, true) : product(g, b, false, !t.b);
  Term byB = t.b ? product(g, a, true, t.a) : product(a, g, !t.a, false);
  give(d, 0, castTo(summedLike(byA, a), d.operand(0).dtype()));
  give(d, 1, castTo(summedLike(byB, b), d.operand(1).dtype()));
}

/// The operand of a call that exchanges the last two dimensions.
std::optional<Term> untransposed(const SimplifyCall& s, const Term& term) {
  auto made = s.madeBy(term, "transpose");
  if (!made || term.rank() < 2)
    return std::nullopt;
  std::vector<int64_t> axes = made->attributes->integers("axes");
  if (made->attributes->isNull("axes"))
    return term.rank() == 2 ? std::optional(made->operands[0]) : std::nullopt;
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t axis = size_t(axes[i] < 0 ? axes[i] + int64_t(axes.size()) : axes[i]);
    size_t wanted = i + 2 < axes.size() ? i : 2 * axes.size() - 3 - i;
    if (axis != wanted)
      return std::nullopt;
  }
  return made->operands[0];
}

/// A product reads transposed operands as they were.
template <ReadTransposes read>
void simplifyProduct(SimplifyCall& s) {
  Transposes t = read(s.attributes());
  auto a = untransposed(s, s.operand(0)), b = untransposed(s, s.operand(1));
  if (!a && !b)
    return;
  std::vector<Setting> settings;
  for (const Setting& setting : settingsOf(s.attributes()))
    if (!setting.name.starts_with("transpose"))
      settings.push_back(setting);
  settings.emplace_back("transpose_a", t.a != a.has_value());
  settings.emplace_back("transpose_b", t.b != b.has_value());
  std::string_view op = s.row().name == "nn.dense" ? "nn.matmul" : s.row().name;
  s.becomesIfTyped(s.call(op, {a.value_or(s.operand(0)), b.value_or(s.operand(1))}, settings));
}

constexpr SimplifyExample denseSimpler[] = {
    {"nn.dense(%x, transpose([[1f, 2f], [3f, 4f], [5f, 6f]], axes=[1, 0]), units=2)",
     "nn.matmul(%x, [[1f, 2f], [3f, 4f], [5f, 6f]], units=2)"},
    {"nn.dense(transpose(%x, axes=None), [[1f, 2f]], units=None)",
     "nn.matmul(%x, [[1f, 2f]], units=None, transpose_a=True, transpose_b=True)"}};
constexpr SimplifyExample matmulSimpler[] = {{"nn.matmul(transpose(%x, axes=[1, 0]), %y, units=3)",
                                              "nn.matmul(%x, %y, units=3, transpose_a=True)"}};
constexpr SimplifyExample batchSimpler[] = {{"nn.batch_matmul(%t, transpose(%t, axes=[0, 2, 1]))",
                                             "nn.batch_matmul(%t, %t, transpose_b=True)"}};

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
        .synonyms = "linear fully_connected",
        .doc = "Multiplies rows of features with a matrix of weights.",
        .details = unitsDetails,
        .operands = denseOperands,
        .attributes = denseAttributes,
        .attributesKey = "relay.attrs.DenseAttrs",
        .relation = withFix<relate<denseTransposes>, denseFix>,
        .compute = compute<denseTransposes>,
        .gradient = GradientRule{matrixGradient<denseTransposes>},
        .simplify = {simplifyProduct<denseTransposes>, denseSimpler},
        .examples = denseExamples,
    },
    {
        .name = "nn.matmul",
        .doc = "The product of matrices, with leading dimensions in the first.",
        .details = unitsDetails,
        .operands = matmulOperands,
        .attributes = matmulAttributes,
        .attributesKey = "relay.attrs.MatmulAttrs",
        .relation = withFix<relate<matmulTransposes>, matmulFix>,
        .compute = compute<matmulTransposes>,
        .gradient = GradientRule{matrixGradient<matmulTransposes>},
        .simplify = {simplifyProduct<matmulTransposes>, matmulSimpler},
        .examples = matmulExamples,
    },
    {
        .name = "nn.batch_matmul",
        .synonyms = "bmm",
        .doc = "Products of matrices, batch by batch.",
        .details = "A single matrix on one side meets all of the other side. Both operands are "
                   "converted to `out_dtype` first.",
        .operands = batchOperands,
        .attributes = batchAttributes,
        .attributesKey = "relay.attrs.BatchMatmulAttrs",
        .relation = withFix<relateBatches, batchesFix>,
        .compute = computeBatches,
        .gradient = GradientRule{batchGradient},
        .simplify = {simplifyProduct<matmulTransposes>, batchSimpler},
        .examples = batchExamples,
    },
};

} // namespace

OperatorFamily denseFamily() {
  return rows;
}

} // namespace stdlib
