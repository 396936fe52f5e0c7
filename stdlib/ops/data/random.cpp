// Random numbers from a counter and a key. What a state is, and how numbers are drawn, is in
// runtime/natives/random.h.
#include "runtime/natives/random.h"

#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/dyn_rules.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;
using runtime::DType;

constexpr size_t mostExtents = 32;

natives::ShapeParameters decodeShape(const Attributes& attributes, Types operands) {
  return {attributes.integers("out_shape"),
          operands.size() > 1 && operands[1]->dtype == runtime::Float64};
}

const Type* stateType(TypeContext& types) {
  return types.tensor({types.constant(int64_t(natives::stateWords))}, runtime::UInt64);
}

/// The result of drawing numbers of a type, after the demands on the state.
RelationResult drawn(const RelationCall& call, const Type* numbers) {
  const Type* fields[] = {stateType(call.types), numbers};
  RelationResult result = call.solved(call.types.tuple(fields));
  demandOperand(call, result, 0, "key", stateType(call.types));
  return result;
}

/// The result of drawing numbers of the shape that the attribute writes.
RelationResult drawnAsWritten(const RelationCall& call, DType dtype) {
  auto shape = shapeAttribute(call, "out_shape");
  if (!shape)
    return call.failed("`out_shape` must not hold negative extents");
  if (shape->size() > mostExtents)
    return call.failed(fmt::format("`out_shape` has {} extents, but only {} are possible",
                                   shape->size(), mostExtents));
  const Type* numbers = solvedAsWritten(call, "out_shape", *shape, dtype).output;
  return drawn(call, numbers);
}

RelationResult generateRelation(const RelationCall& call) {
  return drawnAsWritten(call, runtime::UInt64);
}

RelationResult splitRelation(const RelationCall& call) {
  return drawn(call, stateType(call.types));
}

/// The result of drawing numbers of the shape that operand `i` is; one number is a list of it.
RelationResult drawnAsComputed(const RelationCall& call, size_t i, DType dtype) {
  if (call.rank(i) == 0 && call.dtype(i).isInteger()) {
    const Dim* size = knownSize(call, i);
    return drawn(call, call.types.tensor({size ? size : call.types.any()}, dtype));
  }
  if (auto problem = requireVector(call, i))
    return *problem;
  auto shape = givenShape(call, i);
  if (!shape)
    return negativeExtent(call, i);
  if (shape->size() > mostExtents)
    return call.failedAt(i, fmt::format("`out_shape` has {} extents, but only {} are possible",
                                        shape->size(), mostExtents));
  return drawn(call, call.types.tensor(*shape, dtype));
}

/// Of draws of floats, whose operands 1 and 2 are `first` and `second`; behind them may stand the
/// shape.
RelationResult floatRelation(const RelationCall& call, std::string_view first,
                             std::string_view second) {
  auto dtype = call.attributes.dtype("out_dtype");
  if (dtype != runtime::Float32 && dtype != runtime::Float64)
    return call.failed(words("`out_dtype` must be `{}` or `{}`, but it is {}", runtime::Float32,
                             runtime::Float64, dtype ? runtime::spelled(*dtype) : "not given"));
  RelationResult result =
      call.operands.size() > 3 ? drawnAsComputed(call, 3, *dtype) : drawnAsWritten(call, *dtype);
  const Type* scalar = call.types.tensor({}, *dtype);
  if (result.outcome == RelationResult::Outcome::Solved &&
      demandOperand(call, result, 1, first, scalar))
    demandOperand(call, result, 2, second, scalar);
  return result;
}

RelationResult uniformRelation(const RelationCall& call) {
  return floatRelation(call, "low", "high");
}

RelationResult normalRelation(const RelationCall& call) {
  return floatRelation(call, "mean", "scale");
}

natives::DrawnParameters decodeRank(const Attributes&, Types operands) {
  bool isList = operands.size() > 3 && !operands[3]->shape.empty();
  return {isList ? operands[3]->shape[0]->value : operands.size() > 3 ? 1 : 0,
          operands.size() > 1 && operands[1]->dtype == runtime::Float64};
}

RelationResult multinomialRelation(const RelationCall& call) {
  int64_t samples = call.attributes.integer("num_samples");
  if (samples < 0)
    return call.failed(fmt::format("`num_samples` is {}, but it must not be negative", samples));
  if (call.rank(1) == 0 || !call.dtype(1).isComputable())
    return call.failedAt(1, words("`probs` must hold numbers along a dimension, but it is "
                                  "`{}`",
                                  call.operands[1]));
  std::vector<const Dim*> shape(call.shape(1).begin(), call.shape(1).end());
  const Dim* outcomes = shape.back();
  if (outcomes->isConstant(0))
    return call.failedAt(1, "there is no outcome to choose");
  shape.back() = call.types.constant(samples);
  RelationResult result = drawn(call, call.types.tensor(shape, runtime::Int32));
  requireAtLeast(result, outcomes, 1);
  return result;
}

natives::SampleParameters decodeSamples(const Attributes& attributes, Types) {
  return {attributes.integer("num_samples")};
}

constexpr OperandRow keyRow = {"key", "the state of the generator: ten words", OperandKind::Tensor,
                               true};
constexpr OperandRow keyOperand[] = {keyRow};
constexpr OperandRow uniformOperands[] = {
    keyRow,
    {"low", "the least number, of rank 0", OperandKind::Tensor, true},
    {"high", "what all numbers are below, of rank 0", OperandKind::Tensor, true}};
constexpr OperandRow normalOperands[] = {
    keyRow,
    {"mean", "the mean, of rank 0", OperandKind::Tensor, true},
    {"scale", "the standard deviation, of rank 0", OperandKind::Tensor, true}};
constexpr OperandRow shapeOperand = {"out_shape", "the shape of the numbers"};
constexpr OperandRow dynUniformOperands[] = {uniformOperands[0], uniformOperands[1],
                                             uniformOperands[2], shapeOperand};
constexpr OperandRow dynNormalOperands[] = {normalOperands[0], normalOperands[1], normalOperands[2],
                                            shapeOperand};
constexpr OperandRow multinomialOperands[] = {
    keyRow, {"probs", "how likely each outcome is, along the last dimension"}};

constexpr AttributeRow shapeRow = {"out_shape", AttributeKind::IntList, "",
                                   "the shape of the numbers"};
constexpr AttributeRow generateAttributes[] = {shapeRow};
constexpr AttributeRow floatAttributes[] = {
    shapeRow, {"out_dtype", AttributeKind::DType, "\"\"", "the element type: float32 or float64"}};
constexpr AttributeRow dynFloatAttributes[] = {
    {"out_shape", AttributeKind::IntList, "", "unused: the operand counts", true},
    floatAttributes[1]};
constexpr AttributeRow multinomialAttributes[] = {
    {"num_samples", AttributeKind::Int, "1", "how many outcomes to draw"}};

/// The same numbers from 0 to 1, or with mean 0 and deviation 1.
Term standardNumbers(GradientCall& d, std::string_view op) {
  runtime::DType dtype = d.operand(1).dtype();
  std::vector<Term> operands = {d.operand(0), d.number(dtype, 0), d.number(dtype, 1)};
  if (d.operandCount() > 3)
    operands.push_back(d.operand(3));
  return d.project(d.call(op, operands, sameAttributes(d)), 1);
}

void uniformGradientOf(GradientCall& d, std::string_view op) {
  Term unit = standardNumbers(d, op), pull = incoming(d, 1);
  give(d, 1, sumOfAll((1.0 - unit) * pull));
  give(d, 2, sumOfAll(unit * pull));
}

void normalGradientOf(GradientCall& d, std::string_view op) {
  Term pull = incoming(d, 1);
  give(d, 1, sumOfAll(pull));
  give(d, 2, sumOfAll(standardNumbers(d, op) * pull));
}

void uniformGradient(GradientCall& d) {
  uniformGradientOf(d, "random.uniform");
}
void normalGradient(GradientCall& d) {
  normalGradientOf(d, "random.normal");
}
void dynUniformGradient(GradientCall& d) {
  uniformGradientOf(d, "dyn.random.uniform");
}
void dynNormalGradient(GradientCall& d) {
  normalGradientOf(d, "dyn.random.normal");
}

constexpr Example generateExamples[] = {
    {"random.threefry_generate(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 4i64, 0i64], "
     "dtype=\"uint64\"), out_shape=[5])",
     "(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 8i64, 4i64, 0i64], dtype=\"uint64\"), "
     "cast([-1268799765244136836i64, 3733049263667422849i64, -1248085063588400443i64, "
     "5672677121325786426i64, -4345245369742936535i64], dtype=\"uint64\"))"}};
constexpr Example splitExamples[] = {
    {"random.threefry_split(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 4i64, 0i64], "
     "dtype=\"uint64\"))",
     "(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 2i64, 0i64], dtype=\"uint64\"), "
     "cast([1i64, 0i64, 0i64, 0i64, 4i64, 0i64, 0i64, 0i64, 2i64, 0i64], dtype=\"uint64\"))"}};
constexpr Example uniformExamples[] = {
    {"random.uniform(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 4i64, 0i64], "
     "dtype=\"uint64\"), 0f, 1f, out_shape=[3], out_dtype=\"float32\")",
     "(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 4i64, 4i64, 0i64], dtype=\"uint64\"), "
     "[0.9903289f, 0.8512901f, 0.30993187f])"}};
constexpr Example normalExamples[] = {
    {"random.normal(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 4i64, 0i64], "
     "dtype=\"uint64\"), 1f, 2f, out_shape=[3], out_dtype=\"float32\")",
     "(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 8i64, 4i64, 0i64], dtype=\"uint64\"), "
     "[4.61573f, -2.8698862f, 2.7163968f])"}};
constexpr Example dynUniformExamples[] = {
    {"dyn.random.uniform(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 4i64, 0i64], "
     "dtype=\"uint64\"), 0f, 1f, [3], out_shape=None, out_dtype=\"float32\")",
     "(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 4i64, 4i64, 0i64], dtype=\"uint64\"), "
     "[0.9903289f, 0.8512901f, 0.30993187f])"}};
constexpr Example dynNormalExamples[] = {
    {"dyn.random.normal(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 4i64, 0i64], "
     "dtype=\"uint64\"), 1f, 2f, [3], out_shape=None, out_dtype=\"float32\")",
     "(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 8i64, 4i64, 0i64], dtype=\"uint64\"), "
     "[4.61573f, -2.8698862f, 2.7163968f])"}};
constexpr Example multinomialExamples[] = {
    {"random.multinomial(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 4i64, 0i64], "
     "dtype=\"uint64\"), [[1f, 1f, 2f], [0f, -1f, 3f]], num_samples=4)",
     "(cast([1i64, 0i64, 0i64, 0i64, 0i64, 0i64, 0i64, 8i64, 4i64, 0i64], dtype=\"uint64\"), [[2, "
     "2, 1, 1], [2, 2, 2, 2]])"}};

constexpr OperatorRow rows[] = {
    {.name = "random.threefry_generate",
     .doc = "Gives random 64-bit words, and the state of the generator after them.",
     .details = "Block i of four words is a function of the key and of path and counter, to whose "
                "words i is added. The counter goes on by a multiple of four; when it has no room, "
                "the path gets a one more, and when that is full, the key is made anew.",
     .operands = keyOperand,
     .attributes = generateAttributes,
     .attributesKey = "relay.attrs.ThreefryGenerateAttrs",
     .relation = generateRelation,
     .native = nativeOf<natives::randomWords, decodeShape>(),
     .gradient = integerValued,
     .examples = generateExamples},
    {.name = "random.threefry_split",
     .doc = "Gives two states whose numbers have nothing to do with each other.",
     .details = "The path of the second one gets a one more, that of the first a zero. When the "
                "path is full, both get a key that is made anew.",
     .operands = keyOperand,
     .relation = splitRelation,
     .native = nativeOf<natives::splitKey>(),
     .role = Role::SplitKey,
     .gradient = integerValued,
     .examples = splitExamples},
    {.name = "random.uniform",
     .synonyms = "rand",
     .doc = "Gives random numbers that are spread evenly, and the state after them.",
     .details = "A number is `u * (high - low) + low`, where u has the top 23 of 32 random bits "
                "behind the point, and 52 of 64 in float64. The gradient takes u as given.",
     .operands = uniformOperands,
     .attributes = floatAttributes,
     .attributesKey = "relay.attrs.UniformAttrs",
     .relation = uniformRelation,
     .native = nativeOf<natives::uniformNumbers, decodeShape>(),
     .gradient = GradientRule{uniformGradient},
     .examples = uniformExamples},
    {.name = "random.normal",
     .synonyms = "randn",
     .doc = "Gives random numbers with a normal distribution, and the state after them.",
     .details = "A number is `sqrt(-2 * log(1 - u)) * sin(2 * pi * v) * scale + mean`, with u and "
                "v as `random.uniform` gives them, first all u, then all v. The gradient takes "
                "them as given.",
     .operands = normalOperands,
     .attributes = floatAttributes,
     .attributesKey = "relay.attrs.NormalAttrs",
     .relation = normalRelation,
     .native = nativeOf<natives::normalNumbers, decodeShape>(),
     .gradient = GradientRule{normalGradient},
     .examples = normalExamples},
    {.name = "dyn.random.uniform",
     .doc = "Gives random numbers that are spread evenly, of a shape that is computed, and the "
            "state after them.",
     .details = "As `random.uniform`.",
     .operands = dynUniformOperands,
     .attributes = dynFloatAttributes,
     .attributesKey = "relay.attrs.UniformAttrs",
     .relation = uniformRelation,
     .native = nativeOf<natives::uniformByOperand, decodeRank>(),
     .fixed = {"random.uniform"},
     .gradient = GradientRule{dynUniformGradient},
     .examples = dynUniformExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "dyn.random.normal",
     .doc = "Gives random numbers with a normal distribution, of a shape that is computed, and the "
            "state after them.",
     .details = "As `random.normal`.",
     .operands = dynNormalOperands,
     .attributes = dynFloatAttributes,
     .attributesKey = "relay.attrs.NormalAttrs",
     .relation = normalRelation,
     .native = nativeOf<natives::normalByOperand, decodeRank>(),
     .fixed = {"random.normal"},
     .gradient = GradientRule{dynNormalGradient},
     .examples = dynNormalExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "random.multinomial",
     .synonyms = "categorical",
     .doc = "Draws outcomes with given probabilities, and gives the state after them.",
     .details =
         "The probabilities are taken in float32, negative ones as zero, and scaled to a sum "
         "of one. A number u from 0 to 1 draws the first outcome up to which they add up to "
         "more than u.",
     .operands = multinomialOperands,
     .attributes = multinomialAttributes,
     .attributesKey = "relay.attrs.MultinomialAttrs",
     .relation = multinomialRelation,
     .native = nativeOf<natives::drawOutcomes, decodeSamples>(),
     .gradient = NoGradient{"chooses outcomes by comparing"},
     .examples = multinomialExamples},
};

} // namespace

OperatorFamily randomFamily() {
  return rows;
}

} // namespace stdlib
