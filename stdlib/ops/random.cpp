// Random numbers from a counter and a key: Threefry with 4 words of 64 bits, and what is drawn from
// it.
//
// The streams are bit for bit those of Relay, whose function differs from the published Threefry in
// two ways: a mix adds the second word twice before the exclusive or, and nothing is added to the
// words after the last round. A state has ten words: four of a key, two of a path of splits, two of
// a counter (the first is unused) and two that mark the place of the next split in the path.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/kernel_data.h"
#include "stdlib/ops/random_key.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace stdlib {

namespace {

using namespace lang;
using runtime::DType;
using runtime::KernelCall;
using runtime::KernelFault;
using runtime::KernelFaultCode;
using runtime::Tensor;

using Words = std::array<uint64_t, 4>;

constexpr size_t stateWords = 10;
constexpr uint64_t topBit = uint64_t(1) << 63;
constexpr uint64_t allBits = ~uint64_t(0);

/// 20 rounds over four words.
Words threefry(const Words& key, Words words) {
  constexpr int rotations[8][2] = {{14, 16}, {52, 57}, {23, 40}, {5, 37},
                                   {25, 33}, {46, 12}, {58, 22}, {32, 32}};
  const uint64_t schedule[5] = {key[0], key[1], key[2], key[3],
                                0x1BD11BDAA9FC1A22 ^ key[0] ^ key[1] ^ key[2] ^ key[3]};
  for (size_t round = 0; round < 20; ++round) {
    if (round % 4 == 0) {
      for (size_t i = 0; i < 4; ++i)
        words[i] += schedule[(round / 4 + i) % 5];
      words[3] += round / 4;
    }
    for (size_t half = 0; half < 2; ++half) {
      uint64_t &a = words[2 * half], &b = words[2 * half + 1];
      a += b;
      b = (a + b) ^ std::rotl(b, rotations[round % 8][half]);
    }
    std::swap(words[1], words[3]);
  }
  return words;
}

struct State {
  Words key = {};
  std::array<uint64_t, 2> path = {};
  std::array<uint64_t, 2> counter = {};
  std::array<uint64_t, 2> next = {};

  /// Whether the path has no room for a split; Relay looks at the first word alone.
  bool isFull() const { return next[0] == 0; }
  Words block() const { return {path[0], path[1], counter[0], counter[1]}; }
};

State readState(const Tensor& tensor) {
  auto words = tensor.elements<uint64_t>();
  return {{words[0], words[1], words[2], words[3]},
          {words[4], words[5]},
          {words[6], words[7]},
          {words[8], words[9]}};
}

Tensor stateTensor(const State& state) {
  Tensor tensor(runtime::UInt64, {int64_t(stateWords)});
  auto words = tensor.elements<uint64_t>();
  auto to = std::ranges::copy(state.key, words.begin()).out;
  for (const auto& pair : {state.path, state.counter, state.next})
    to = std::ranges::copy(pair, to).out;
  return tensor;
}

/// The mark of the next split one place further.
std::array<uint64_t, 2> shifted(std::array<uint64_t, 2> next) {
  if (next[0] == 1)
    return {0, topBit};
  if (next[0] == 0)
    return {0, next[1] >> 1};
  return {next[0] >> 1, 0};
}

/// The state with a one at the end of its path.
State turnedRight(State state) {
  for (size_t i = 0; i < 2; ++i)
    state.path[i] |= state.next[i];
  state.next = shifted(state.next);
  return state;
}

/// A state whose counter has room for `count` numbers.
State withRoom(const State& state, uint64_t count) {
  if (state.counter[1] < allBits - count)
    return state;
  State fresh;
  if (state.isFull()) {
    fresh.key = threefry(state.key, {allBits, allBits, allBits, allBits});
    fresh.next = {topBit, 0};
  } else {
    fresh = turnedRight(state);
    fresh.counter = {0, 0};
  }
  return fresh;
}

/// Random words, and the state after them. Whole blocks add their number to all words of the
/// counter and the path; the rest adds to the last word alone, as in Relay.
struct Stream {
  std::vector<uint64_t> words;
  State after;
};

Stream streamOf(const State& given, size_t count) {
  Stream stream{std::vector<uint64_t>(count), withRoom(given, count)};
  State& state = stream.after;
  size_t whole = count / 4 * 4;
  for (size_t i = 0; i < whole; i += 4) {
    Words block = state.block();
    for (uint64_t& word : block)
      word += i / 4;
    std::ranges::copy(threefry(state.key, block), stream.words.begin() + ptrdiff_t(i));
  }
  state.counter[1] += whole;
  if (whole < count) {
    Words rest = threefry(state.key, state.block());
    std::copy_n(rest.begin(), count - whole, stream.words.begin() + ptrdiff_t(whole));
    state.counter[1] += 4;
  }
  state.counter[0] = 0;
  return stream;
}

/// Floats in [0, 1): random bits as the fraction of a number from 1 to 2.
template <typename T>
T unitFloat(uint64_t word) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<float>(uint32_t(word) >> 9 | uint32_t(127) << 23) - 1.0f;
  else
    return std::bit_cast<double>(word >> 12 | uint64_t(1023) << 52) - 1.0;
}

constexpr size_t mostExtents = 32;

/// The shape of the result, as the attribute writes it.
struct ShapeParameters {
  size_t rank;
  std::array<int64_t, mostExtents> extents;
  bool isDouble;

  runtime::Shape shape() const { return {extents.begin(), extents.begin() + ptrdiff_t(rank)}; }
};

ShapeParameters decodeShape(const Attributes& attributes, Types operands) {
  ShapeParameters parameters{};
  for (int64_t extent : attributes.integers("out_shape"))
    parameters.extents[parameters.rank++] = extent;
  parameters.isDouble = operands.size() > 1 && operands[1]->dtype == runtime::Float64;
  return parameters;
}

const Type* stateType(TypeContext& types) {
  return types.tensor({types.constant(int64_t(stateWords))}, runtime::UInt64);
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

/// Of `random.uniform` and `random.normal`, whose operands 1 and 2 are `first` and `second`.
RelationResult floatRelation(const RelationCall& call, std::string_view first,
                             std::string_view second) {
  auto dtype = call.attributes.dtype("out_dtype");
  if (dtype != runtime::Float32 && dtype != runtime::Float64)
    return call.failed(fmt::format("`out_dtype` must be `float32` or `float64`, but it is {}",
                                   dtype ? runtime::dtypeName(*dtype) : "not given"));
  RelationResult result = drawnAsWritten(call, *dtype);
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

RelationResult multinomialRelation(const RelationCall& call) {
  int64_t samples = call.attributes.integer("num_samples");
  if (samples < 0)
    return call.failed(fmt::format("`num_samples` is {}, but it must not be negative", samples));
  if (call.rank(1) == 0 || !call.dtype(1).isComputable())
    return call.failedAt(1, fmt::format("`probs` must hold numbers along a dimension, but it is "
                                        "`{}`",
                                        typeText(call.operands[1])));
  std::vector<const Dim*> shape(call.shape(1).begin(), call.shape(1).end());
  const Dim* outcomes = shape.back();
  if (outcomes->isConstant(0))
    return call.failedAt(1, "there is no outcome to choose");
  shape.back() = call.types.constant(samples);
  RelationResult result = drawn(call, call.types.tensor(shape, runtime::Int32));
  requireAtLeast(result, outcomes, 1);
  return result;
}

KernelFault generate(const KernelCall& call, const ShapeParameters& parameters) {
  Tensor numbers(runtime::UInt64, parameters.shape());
  Stream stream = streamOf(readState(call.inputs[0]), size_t(numbers.size()));
  std::ranges::copy(stream.words, numbers.elements<uint64_t>().begin());
  call.outputs = {stateTensor(stream.after), numbers};
  return {};
}

KernelFault split(const KernelCall& call) {
  State left = readState(call.inputs[0]);
  if (left.isFull()) {
    State fresh;
    fresh.key = threefry(left.key, left.block());
    fresh.next = {topBit, 0};
    left = fresh;
  }
  State right = turnedRight(left);
  left.next = right.next;
  call.outputs = {stateTensor(left), stateTensor(right)};
  return {};
}

/// A word as a number from 0 to 1 of the type that was asked for, which T may be wider than.
template <typename T>
T unitOf(uint64_t word, const ShapeParameters& parameters) {
  return parameters.isDouble ? T(unitFloat<double>(word)) : T(unitFloat<float>(word));
}

/// Draws floats of the type of the operands; `make(words, i)` makes number `i` of as many words as
/// it needs.
template <typename T, typename Make>
void drawFloats(const KernelCall& call, const ShapeParameters& parameters, size_t perNumber,
                Make make) {
  Tensor numbers(call.inputs[1].dtype(), parameters.shape());
  Stream stream = streamOf(readState(call.inputs[0]), size_t(numbers.size()) * perNumber);
  auto elements = numbers.elements<T>();
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = make(stream.words, i);
  call.outputs = {stateTensor(stream.after), numbers};
}

template <typename T>
void drawUniform(const KernelCall& call, const ShapeParameters& parameters) {
  T low = call.inputs[1].elements<T>()[0], high = call.inputs[2].elements<T>()[0];
  drawFloats<T>(call, parameters, 1, [&](const std::vector<uint64_t>& words, size_t i) {
    return unitOf<T>(words[i], parameters) * (high - low) + low;
  });
}

/// The method of Box and Muller; the second numbers follow all the first ones.
template <typename T>
void drawNormal(const KernelCall& call, const ShapeParameters& parameters) {
  T mean = call.inputs[1].elements<T>()[0], scale = call.inputs[2].elements<T>()[0];
  drawFloats<T>(call, parameters, 2, [&](const std::vector<uint64_t>& words, size_t i) {
    T first = unitOf<T>(words[i], parameters);
    T second = unitOf<T>(words[words.size() / 2 + i], parameters);
    T radius = std::sqrt(T(-2) * std::log(T(1) - first));
    return radius * std::sin(T(2 * std::numbers::pi) * second) * scale + mean;
  });
}

KernelFault uniform(const KernelCall& call, const ShapeParameters& parameters) {
  call.inputs[1].dtype() == runtime::Float64 ? drawUniform<double>(call, parameters)
                                             : drawUniform<float>(call, parameters);
  return {};
}

KernelFault normal(const KernelCall& call, const ShapeParameters& parameters) {
  call.inputs[1].dtype() == runtime::Float64 ? drawNormal<double>(call, parameters)
                                             : drawNormal<float>(call, parameters);
  return {};
}

struct SampleParameters {
  int64_t count;
};

SampleParameters decodeSamples(const Attributes& attributes, Types) {
  return {attributes.integer("num_samples")};
}

/// The running sums of a line of probabilities, all computed in float32 as in Relay.
void accumulate(std::span<float> line) {
  float total = 0, sum = 0;
  for (float& chance : line) {
    chance = chance > 0 || std::isnan(chance) ? chance : 0;
    total += chance;
  }
  for (float& chance : line) {
    sum += chance / total;
    chance = sum;
  }
}

/// The outcome whose running sum lies closest above `unit`. Others count as if they lay 1 above, so
/// the first outcome is chosen where there is none.
int32_t chosen(std::span<const float> sums, float unit) {
  int32_t best = 0;
  float closest = INFINITY;
  for (size_t i = 0; i < sums.size(); ++i) {
    float above = sums[i] - unit;
    float distance = above > 0 ? above : 1.0f;
    if (distance < closest) {
      closest = distance;
      best = int32_t(i);
    }
  }
  return best;
}

KernelFault multinomial(const KernelCall& call, const SampleParameters& parameters) {
  const Tensor& probs = call.inputs[1];
  runtime::Shape shape = probs.shape();
  size_t outcomes = size_t(shape.back()), samples = size_t(parameters.count);
  shape.back() = parameters.count;
  Tensor result(runtime::Int32, shape);
  Stream stream = streamOf(readState(call.inputs[0]), size_t(result.size()));
  std::vector<double> given = readReals(probs);
  std::vector<float> sums(given.begin(), given.end());
  auto places = result.elements<int32_t>();
  for (size_t line = 0; line * samples < places.size(); ++line) {
    std::span<float> chances = std::span(sums).subspan(line * outcomes, outcomes);
    accumulate(chances);
    for (size_t i = line * samples; i < (line + 1) * samples; ++i)
      places[i] = chosen(chances, unitFloat<float>(stream.words[i]));
  }
  call.outputs = {stateTensor(stream.after), result};
  return {};
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
constexpr OperandRow multinomialOperands[] = {
    keyRow, {"probs", "how likely each outcome is, along the last dimension"}};

constexpr AttributeRow shapeRow = {"out_shape", AttributeKind::IntList, "",
                                   "the shape of the numbers"};
constexpr AttributeRow generateAttributes[] = {shapeRow};
constexpr AttributeRow floatAttributes[] = {
    shapeRow, {"out_dtype", AttributeKind::DType, "\"\"", "the element type: float32 or float64"}};
constexpr AttributeRow multinomialAttributes[] = {
    {"num_samples", AttributeKind::Int, "1", "how many outcomes to draw"}};

/// The same numbers from 0 to 1, or with mean 0 and deviation 1.
Term standardNumbers(GradientCall& d, std::string_view op) {
  runtime::DType dtype = d.operand(1).dtype();
  Term both = d.call(op, {d.operand(0), d.number(dtype, 0), d.number(dtype, 1)}, sameAttributes(d));
  return d.project(both, 1);
}

void uniformGradient(GradientCall& d) {
  Term unit = standardNumbers(d, "random.uniform"), pull = incoming(d, 1);
  give(d, 1, sumOfAll((1.0 - unit) * pull));
  give(d, 2, sumOfAll(unit * pull));
}

void normalGradient(GradientCall& d) {
  Term pull = incoming(d, 1);
  give(d, 1, sumOfAll(pull));
  give(d, 2, sumOfAll(standardNumbers(d, "random.normal") * pull));
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
     .kernel = kernelOf<decodeShape, generate>(),
     .gradient = integerValued,
     .examples = generateExamples},
    {.name = "random.threefry_split",
     .doc = "Gives two states whose numbers have nothing to do with each other.",
     .details = "The path of the second one gets a one more, that of the first a zero. When the "
                "path is full, both get a key that is made anew.",
     .operands = keyOperand,
     .relation = splitRelation,
     .kernel = kernelOf<split>(),
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
     .kernel = kernelOf<decodeShape, uniform>(),
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
     .kernel = kernelOf<decodeShape, normal>(),
     .gradient = GradientRule{normalGradient},
     .examples = normalExamples},
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
     .kernel = kernelOf<decodeSamples, multinomial>(),
     .gradient = NoGradient{"chooses outcomes by comparing"},
     .examples = multinomialExamples},
};

} // namespace

OperatorFamily randomFamily() {
  return rows;
}

runtime::Tensor randomKey(uint64_t seed) {
  State state;
  state.key[0] = seed;
  state.next[0] = topBit;
  return stateTensor(state);
}

} // namespace stdlib
