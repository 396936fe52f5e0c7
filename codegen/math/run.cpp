// Instruction by instruction over a few lanes at a time, which are kept as bits.
#include "codegen/math/run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace codegen {

namespace {

constexpr size_t mostLanes = 64;
using Lanes = std::array<uint64_t, mostLanes>;

template <typename T>
T fromBits(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(uint32_t(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return T(bits);
}

template <typename T>
uint64_t toBits(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else
    return uint64_t(value);
}

/// The operands of one instruction, and where its values go.
struct Run {
  const MathInstruction& instruction;
  const Lanes &a, &b, &c;
  Lanes& results;

  /// `function` of as many T as it has parameters, in each lane.
  template <typename T, typename Function>
  void each(Function function) const {
    for (size_t lane = 0; lane < mostLanes; ++lane) {
      T x = fromBits<T>(a[lane]), y = fromBits<T>(b[lane]), z = fromBits<T>(c[lane]);
      if constexpr (std::is_invocable_v<Function, T>)
        results[lane] = toBits(function(x));
      else if constexpr (std::is_invocable_v<Function, T, T>)
        results[lane] = toBits(function(x, y));
      else
        results[lane] = toBits(function(x, y, z));
    }
  }
};

template <typename T>
bool runComparison(const Run& run) {
  switch (run.instruction.op) {
  case MathOp::Less:
    run.each<T>([](T x, T y) { return x < y; });
    return true;
  case MathOp::LessEqual:
    run.each<T>([](T x, T y) { return x <= y; });
    return true;
  case MathOp::Equal:
    run.each<T>([](T x, T y) { return x == y; });
    return true;
  case MathOp::NotEqual:
    run.each<T>([](T x, T y) { return x != y; });
    return true;
  default:
    return false;
  }
}

template <typename T>
void runFloat(const Run& run, Rounding rounding) {
  switch (run.instruction.op) {
  case MathOp::Add:
    return run.each<T>([](T x, T y) { return x + y; });
  case MathOp::Subtract:
    return run.each<T>([](T x, T y) { return x - y; });
  case MathOp::Multiply:
    return run.each<T>([](T x, T y) { return x * y; });
  case MathOp::Divide:
    return run.each<T>([](T x, T y) { return x / y; });
  case MathOp::MultiplyAdd:
    if (rounding == Rounding::Fused)
      return run.each<T>([](T x, T y, T z) { return std::fma(x, y, z); });
    return run.each<T>([](T x, T y, T z) {
      // Apart, so that no compiler fuses them.
      volatile T product = x * y;
      return T(product + z);
    });
  case MathOp::SquareRoot:
    return run.each<T>([](T x) { return std::sqrt(x); });
  case MathOp::Negate:
    return run.each<T>([](T x) { return -x; });
  case MathOp::Absolute:
    return run.each<T>([](T x) { return std::fabs(x); });
  case MathOp::CopySign:
    return run.each<T>([](T x, T y) { return std::copysign(x, y); });
  case MathOp::Scale:
    return run.each<T>([](T x, T n) { return std::isnan(n) ? n : std::ldexp(x, int(n)); });
  case MathOp::Floor:
    return run.each<T>([](T x) { return std::floor(x); });
  case MathOp::RoundEven:
    return run.each<T>([](T x) { return std::nearbyint(x); });
  default:
    throw std::logic_error("no instruction on floats");
  }
}

template <typename T>
void runWhole(const Run& run) {
  auto bits = unsigned(run.instruction.immediate);
  switch (run.instruction.op) {
  case MathOp::Add:
    return run.each<T>([](T x, T y) { return T(x + y); });
  case MathOp::Subtract:
    return run.each<T>([](T x, T y) { return T(x - y); });
  case MathOp::And:
    return run.each<T>([](T x, T y) { return T(x & y); });
  case MathOp::Or:
    return run.each<T>([](T x, T y) { return T(x | y); });
  case MathOp::Xor:
    return run.each<T>([](T x, T y) { return T(x ^ y); });
  case MathOp::Not:
    return run.each<T>([](T x) { return T(x ^ 1); });
  case MathOp::ShiftLeft:
    return run.each<T>([&](T x) { return T(x << bits); });
  case MathOp::ShiftRight:
    return run.each<T>([&](T x) { return T(x >> bits); });
  default:
    throw std::logic_error("no instruction on whole numbers");
  }
}

bool compare(const Run& run, MathType operands) {
  switch (operands) {
  case MathType::F32:
    return runComparison<float>(run);
  case MathType::F64:
    return runComparison<double>(run);
  case MathType::I32:
    return runComparison<int32_t>(run);
  case MathType::I64:
    return runComparison<int64_t>(run);
  case MathType::Bool:
    return false;
  }
  return false;
}

void runInstruction(const Run& run, MathType operands, Rounding rounding) {
  const MathInstruction& instruction = run.instruction;
  if (instruction.op == MathOp::Constant)
    run.results.fill(instruction.immediate);
  else if (instruction.op == MathOp::Bitcast)
    run.results = run.a;
  else if (instruction.op == MathOp::Select)
    run.each<uint64_t>([](uint64_t x, uint64_t y, uint64_t z) { return x ? y : z; });
  else if (instruction.op == MathOp::Convert && instruction.type == MathType::F32)
    run.each<double>([](double x) { return float(x); });
  else if (instruction.op == MathOp::Convert)
    run.each<float>([](float x) { return double(x); });
  else if (compare(run, operands))
    return;
  else if (instruction.type == MathType::F32)
    runFloat<float>(run, rounding);
  else if (instruction.type == MathType::F64)
    runFloat<double>(run, rounding);
  else if (instruction.type == MathType::I64)
    runWhole<uint64_t>(run);
  else
    runWhole<uint32_t>(run);
}

} // namespace

void runMathProgram(const MathProgram& program, Rounding rounding,
                    std::span<const std::span<const uint64_t>> parameters,
                    std::span<uint64_t> results) {
  std::vector<Lanes> values(program.instructions.size());
  for (size_t begin = 0; begin < results.size(); begin += mostLanes) {
    size_t lanes = std::min(mostLanes, results.size() - begin);
    for (size_t i = 0; i < values.size(); ++i) {
      const MathInstruction& instruction = program.instructions[i];
      const auto& operands = instruction.operands;
      if (instruction.op == MathOp::Parameter)
        std::ranges::copy(parameters[instruction.immediate].subspan(begin, lanes),
                          values[i].begin());
      else
        runInstruction(
            {instruction, values[operands[0]], values[operands[1]], values[operands[2]], values[i]},
            program.typeOf(operands[0]), rounding);
    }
    std::ranges::copy(std::span(values[program.result]).first(lanes),
                      results.begin() + ptrdiff_t(begin));
  }
}

} // namespace codegen
