// Random arguments come from a generator of their own, so that a measurement can be repeated.
#include "driver/math_arguments.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace driver {

namespace {

using codegen::MathInstruction;
using codegen::MathOp;
using codegen::MathProgram;
using codegen::MathType;

template <typename T>
class ArgumentPairs {
public:
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

  explicit ArgumentPairs(const MathProgram& program)
      : hasTwo_(program.instructions.size() > 1 &&
                program.instructions[1].op == MathOp::Parameter) {}

  void add(T a, T b = 0) {
    lists_[0].push_back(std::bit_cast<Bits>(a));
    if (hasTwo_)
      lists_[1].push_back(std::bit_cast<Bits>(b));
  }

  bool hasTwo() const { return hasTwo_; }
  std::array<std::vector<uint64_t>, 2>&& finish() && { return std::move(lists_); }

  T anyBits() { return std::bit_cast<T>(Bits(random_())); }
  /// From -most to most.
  T upTo(double most) { return T((double(random_() >> 11) * 0x1p-52 - 1) * most); }
  T whole(int most) { return T(int(random_() % unsigned(2 * most + 1)) - most); }

private:
  bool hasTwo_;
  std::array<std::vector<uint64_t>, 2> lists_;
  std::mt19937_64 random_{20240607};
};

template <typename T>
std::vector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (T size : {T(0), Limits::denorm_min(), std::nextafter(Limits::min(), T(0)), Limits::min(),
                 Limits::epsilon(), T(0.5), std::nextafter(T(1), T(0)), T(1),
                 std::nextafter(T(1), T(2)), T(1.5), T(2), T(2.5), T(3), T(1e10), Limits::max(),
                 Limits::infinity(), Limits::quiet_NaN()})
    values.insert(values.end(), {size, -size});
  return values;
}

/// Numbers in the program decide between cases, so that their neighbours are where these meet.
template <typename T>
void addNeighbours(ArgumentPairs<T>& arguments, const MathProgram& program) {
  for (const MathInstruction& instruction : program.instructions) {
    if (instruction.op != MathOp::Constant)
      continue;
    T value = 0;
    if (instruction.type == MathType::F32)
      value = std::bit_cast<float>(uint32_t(instruction.immediate));
    else if (instruction.type == MathType::F64)
      value = T(std::bit_cast<double>(instruction.immediate));
    T above = value, below = value;
    for (int i = 0; i < 4; ++i) {
      for (T x : {above, below, -above, -below})
        arguments.add(x, arguments.upTo(10));
      above = std::nextafter(above, std::numeric_limits<T>::infinity());
      below = std::nextafter(below, -std::numeric_limits<T>::infinity());
    }
  }
}

/// Where sine, cosine and tangent lose the most digits: beside multiples of a quarter turn. The
/// last ones are the nearest that there are.
template <typename T>
void addQuarterTurns(ArgumentPairs<T>& arguments, size_t points) {
  constexpr long double halfPi = 1.57079632679489661923132169163975144L;
  for (size_t i = 1; i <= points; ++i) {
    T near = T((long double)(i < points / 2 ? i : i * i * i) * halfPi);
    for (T x : {near, -std::nextafter(near, T(0)), std::nextafter(near, T(HUGE_VAL))})
      arguments.add(x);
  }
  if constexpr (sizeof(T) == 4)
    arguments.add(std::ldexp(T(16367173), 72));
  else
    arguments.add(std::ldexp(T(6381956970095103), 797));
}

template <typename T>
void addOfOne(ArgumentPairs<T>& arguments, size_t points) {
  addQuarterTurns(arguments, points / 16);
  for (size_t i = 0; i < points / 2; ++i)
    arguments.add(arguments.anyBits());
  for (double most : {1.0, 10.0, 100.0, 800.0})
    for (size_t i = 0; i < points / 16; ++i)
      arguments.add(arguments.upTo(most));
  for (size_t i = 0; i < points / 16; ++i)
    arguments.add(1 + arguments.upTo(std::ldexp(1.0, -int(i % 24))));
}

template <typename T>
void addOfTwo(ArgumentPairs<T>& arguments, size_t points) {
  std::vector<T> special = specialValues<T>();
  for (T a : special)
    for (T b : special)
      arguments.add(a, b);
  for (size_t i = 0; i < points / 5; ++i) {
    T a = arguments.anyBits();
    arguments.add(a, arguments.anyBits());
    arguments.add(a, arguments.upTo(20));
    arguments.add(a, arguments.whole(40));
    arguments.add(arguments.whole(40), arguments.whole(40));
    // Powers of numbers near 1, over the whole range of results.
    T base = 1 + arguments.upTo(std::ldexp(0.5, -int(i % 24)));
    arguments.add(base,
                  T(double(arguments.upTo(sizeof(T) == 4 ? 104 : 745)) / std::log(double(base))));
  }
}

} // namespace

template <std::floating_point T>
std::array<std::vector<uint64_t>, 2> mathArguments(const MathProgram& program, size_t points) {
  ArgumentPairs<T> arguments(program);
  addNeighbours(arguments, program);
  if (arguments.hasTwo()) {
    addOfTwo(arguments, points);
  } else {
    for (T value : specialValues<T>())
      arguments.add(value);
    addOfOne(arguments, points);
  }
  return std::move(arguments).finish();
}

template std::array<std::vector<uint64_t>, 2> mathArguments<float>(const MathProgram& program,
                                                                   size_t points);
template std::array<std::vector<uint64_t>, 2> mathArguments<double>(const MathProgram& program,
                                                                    size_t points);

} // namespace driver
