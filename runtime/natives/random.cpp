// The generator first, then what is made of its words.
#include "runtime/natives/random.h"

#include "runtime/natives/elements.h"
#include "runtime/natives/tensor_data.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace natives {

namespace {

using Words = std::array<uint64_t, 4>;

/// The dimensions that drawn numbers may have where an operand tells their shape.
constexpr int64_t mostDrawnRank = 32;
constexpr uint64_t topBit = uint64_t(1) << 63;
constexpr uint64_t allBits = ~uint64_t(0);

/// 20 rounds over four words, each with its own constants, so that none is looked up as they run.
/// A `Word` may be several, of as many blocks.
template <typename Word>
void threefry(const Words& key, std::array<Word, 4>& words) {
  constexpr int rotations[8][2] = {{14, 16}, {52, 57}, {23, 40}, {5, 37},
                                   {25, 33}, {46, 12}, {58, 22}, {32, 32}};
  const uint64_t schedule[5] = {key[0], key[1], key[2], key[3],
                                0x1BD11BDAA9FC1A22 ^ key[0] ^ key[1] ^ key[2] ^ key[3]};
  auto mix = [](Word& a, Word& b, int rotation) {
    a += b;
    b = (a + b) ^ (b << rotation | b >> (64 - rotation));
  };
  auto round = [&]<size_t number>(std::integral_constant<size_t, number>) {
    if constexpr (number % 4 == 0) {
      for (size_t i = 0; i < 4; ++i)
        words[i] += schedule[(number / 4 + i) % 5];
      words[3] += number / 4;
    }
    mix(words[0], words[1], rotations[number % 8][0]);
    mix(words[2], words[3], rotations[number % 8][1]);
    std::swap(words[1], words[3]);
  };
  [&]<size_t... numbers>(std::index_sequence<numbers...>) {
    (round(std::integral_constant<size_t, numbers>()), ...);
  }
  (std::make_index_sequence<20>());
}

/// Words of several blocks, which are mixed at once.
typedef uint64_t Lanes __attribute__((vector_size(32)));
constexpr size_t laneCount = sizeof(Lanes) / sizeof(uint64_t);

/// Blocks one after the other: in number i each word of `first` is greater by i.
void fillBlocks(const Words& key, const Words& first, std::span<Words> blocks) {
  size_t whole = blocks.size() / laneCount * laneCount;
  for (size_t i = 0; i < whole; i += laneCount) {
    std::array<Lanes, 4> words;
    for (size_t word = 0; word < 4; ++word)
      words[word] = first[word] + i + Lanes{0, 1, 2, 3};
    threefry(key, words);
    for (size_t lane = 0; lane < laneCount; ++lane)
      blocks[i + lane] = {words[0][lane], words[1][lane], words[2][lane], words[3][lane]};
  }
  for (size_t i = whole; i < blocks.size(); ++i) {
    for (size_t word = 0; word < 4; ++word)
      blocks[i][word] = first[word] + i;
    threefry(key, blocks[i]);
  }
}

Words mixed(const Words& key, Words words) {
  threefry(key, words);
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
    fresh.key = mixed(state.key, {allBits, allBits, allBits, allBits});
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
  /// More than are asked for, as blocks are whole.
  std::vector<Words> blocks;
  State after;

  uint64_t word(size_t i) const { return blocks[i / 4][i % 4]; }
};

Stream streamOf(const State& given, size_t count) {
  Stream stream{std::vector<Words>((count + 3) / 4), withRoom(given, count)};
  State& state = stream.after;
  size_t whole = count / 4;
  fillBlocks(state.key, state.block(), std::span(stream.blocks).first(whole));
  state.counter[1] += 4 * whole;
  if (4 * whole < count) {
    stream.blocks[whole] = mixed(state.key, state.block());
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

constexpr NativeType stateType{runtime::UInt64, 1};

bool isState(const NativeType& type) {
  return type.dtype == stateType.dtype && type.rank == stateType.rank;
}

/// Whether the tensor has the words of a state.
bool holdsState(const Tensor& tensor) {
  return tensor.size() == int64_t(stateWords);
}

NativeResults wordsResults(NativeTypes inputs, const ShapeParameters& parameters) {
  bool isGood = inputs.size() == 1 && isState(inputs[0]) && runtime::elementCount(parameters.shape);
  return isGood ? NativeResults({stateType, {runtime::UInt64, parameters.shape.size()}})
                : std::nullopt;
}

NativeFault generate(const NativeCall& call, const ShapeParameters& parameters) {
  if (!holdsState(call.inputs[0]))
    return {NativeFaultCode::Shapes};
  Tensor numbers(runtime::UInt64, parameters.shape);
  Stream stream = streamOf(readState(call.inputs[0]), size_t(numbers.size()));
  auto words = numbers.elements<uint64_t>();
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = stream.word(i);
  call.outputs = {stateTensor(stream.after), numbers};
  return {};
}

NativeResults splitResults(NativeTypes inputs, const NoParameters&) {
  return inputs.size() == 1 && isState(inputs[0]) ? NativeResults({stateType, stateType})
                                                  : std::nullopt;
}

NativeFault split(const NativeCall& call, const NoParameters&) {
  if (!holdsState(call.inputs[0]))
    return {NativeFaultCode::Shapes};
  State left = readState(call.inputs[0]);
  if (left.isFull()) {
    State fresh;
    fresh.key = mixed(left.key, left.block());
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

/// Draws floats of the type of the operands; `make(stream, i)` makes number `i` of as many
/// words as it needs.
template <typename T, typename Make>
void drawFloats(const NativeCall& call, const ShapeParameters& parameters, size_t perNumber,
                Make make) {
  Tensor numbers(call.inputs[1].dtype(), parameters.shape);
  Stream stream = streamOf(readState(call.inputs[0]), size_t(numbers.size()) * perNumber);
  auto elements = numbers.elements<T>();
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = make(stream, i);
  call.outputs = {stateTensor(stream.after), numbers};
}

struct Uniform {
  template <typename T>
  static void draw(const NativeCall& call, const ShapeParameters& parameters) {
    T low = call.inputs[1].elements<T>()[0], high = call.inputs[2].elements<T>()[0];
    drawFloats<T>(call, parameters, 1, [&](const Stream& stream, size_t i) {
      return unitOf<T>(stream.word(i), parameters) * (high - low) + low;
    });
  }
};

/// The method of Box and Muller; the second numbers follow all the first ones.
struct Normal {
  template <typename T>
  static void draw(const NativeCall& call, const ShapeParameters& parameters) {
    T mean = call.inputs[1].elements<T>()[0], scale = call.inputs[2].elements<T>()[0];
    size_t count = size_t(runtime::elementCount(parameters.shape).value_or(0));
    drawFloats<T>(call, parameters, 2, [&](const Stream& stream, size_t i) {
      T first = unitOf<T>(stream.word(i), parameters);
      T second = unitOf<T>(stream.word(count + i), parameters);
      T radius = std::sqrt(T(-2) * std::log(T(1) - first));
      return radius * std::sin(T(2 * std::numbers::pi) * second) * scale + mean;
    });
  }
};

/// Of a state and the two numbers that say which floats are drawn.
NativeResults floatsOf(NativeTypes inputs, bool isDouble, size_t rank) {
  DType dtype = isDouble ? runtime::Float64 : runtime::Float32;
  bool isGood = isState(inputs[0]);
  for (size_t i = 1; isGood && i < 3; ++i)
    isGood = inputs[i].dtype == dtype && inputs[i].rank == 0;
  return isGood ? NativeResults({stateType, {dtype, rank}}) : std::nullopt;
}

NativeResults floatResults(NativeTypes inputs, const ShapeParameters& parameters) {
  return inputs.size() == 3 && runtime::elementCount(parameters.shape)
             ? floatsOf(inputs, parameters.isDouble, parameters.shape.size())
             : std::nullopt;
}

NativeResults floatByOperandResults(NativeTypes inputs, const DrawnParameters& parameters) {
  bool isGood = inputs.size() == 4 && inputs[3].rank == 1 && isKnown(inputs[3].dtype) &&
                parameters.rank >= 0 && parameters.rank <= mostDrawnRank;
  return isGood ? floatsOf(inputs, parameters.isDouble, size_t(parameters.rank)) : std::nullopt;
}

template <typename Kind>
NativeFault drawOf(const NativeCall& call, const ShapeParameters& parameters) {
  if (!holdsState(call.inputs[0]))
    return {NativeFaultCode::Shapes};
  call.inputs[1].dtype() == runtime::Float64 ? Kind::template draw<double>(call, parameters)
                                             : Kind::template draw<float>(call, parameters);
  return {};
}

template <typename Kind>
NativeFault drawByOperand(const NativeCall& call, const DrawnParameters& parameters) {
  auto extents = wholeValues(call.inputs[3]);
  bool isGood = extents && int64_t(extents->size()) == parameters.rank &&
                std::ranges::all_of(*extents, [](int64_t extent) { return extent >= 0; }) &&
                runtime::elementCount(*extents);
  return isGood ? drawOf<Kind>(call, {*extents, parameters.isDouble})
                : NativeFault{NativeFaultCode::Shapes};
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

NativeResults outcomesResults(NativeTypes inputs, const SampleParameters& parameters) {
  bool isGood = inputs.size() == 2 && isState(inputs[0]) && isKnown(inputs[1].dtype) &&
                inputs[1].rank > 0 && parameters.count >= 0;
  return isGood ? NativeResults({stateType, {runtime::Int32, inputs[1].rank}}) : std::nullopt;
}

NativeFault multinomial(const NativeCall& call, const SampleParameters& parameters) {
  const Tensor& probs = call.inputs[1];
  Shape shape = probs.shape();
  if (!holdsState(call.inputs[0]) || shape.back() == 0)
    return {NativeFaultCode::Shapes};
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
      places[i] = chosen(chances, unitFloat<float>(stream.word(i)));
  }
  call.outputs = {stateTensor(stream.after), result};
  return {};
}

} // namespace

Tensor randomKey(uint64_t seed) {
  State fresh;
  fresh.key[0] = seed;
  fresh.next[0] = topBit;
  return stateTensor(fresh);
}

constinit const NativeOf<ShapeParameters> randomWords =
    native<ShapeParameters, wordsResults, generate>("randomWords");
constinit const NativeOf<ShapeParameters> uniformNumbers =
    native<ShapeParameters, floatResults, drawOf<Uniform>>("uniformNumbers");
constinit const NativeOf<ShapeParameters> normalNumbers =
    native<ShapeParameters, floatResults, drawOf<Normal>>("normalNumbers");
constinit const NativeOf<DrawnParameters> uniformByOperand =
    native<DrawnParameters, floatByOperandResults, drawByOperand<Uniform>>("uniformByOperand");
constinit const NativeOf<DrawnParameters> normalByOperand =
    native<DrawnParameters, floatByOperandResults, drawByOperand<Normal>>("normalByOperand");
constinit const NativeOf<NoParameters> splitKey =
    native<NoParameters, splitResults, split>("splitKey");
constinit const NativeOf<SampleParameters> drawOutcomes =
    native<SampleParameters, outcomesResults, multinomial>("drawOutcomes");

} // namespace natives
