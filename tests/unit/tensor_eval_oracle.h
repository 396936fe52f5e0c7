// A second, naive interpreter of tensor functions, for tests: recursive, one element at a time, in
// double and 128-bit integers, rounded to the program's type after every function.
//
// It shares no code with lower/. Sums of floats are in double in the order of the axes, so float
// results agree exactly only where all sums are exact.
#pragma once

#include "lang/compute.h"
#include "runtime/half.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

namespace oracle {

using runtime::DType;
__extension__ typedef __int128 Wide;

/// Thrown where the program has a run-time fault.
struct OracleFault {};

/// A scalar: `real` for floats, else `whole`.
struct Cell {
  double real = 0;
  Wide whole = 0;
};

/// A tensor as scalars.
struct Cells {
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<Cell> cells;
};

inline double roundReal(DType dtype, double value) {
  if (dtype.bits == 64)
    return value;
  if (dtype.bits == 32)
    return float(value);
  // 16 bits: to 11 or 8 significant bits, halves to even, by scaling to whole numbers.
  if (value == 0 || !std::isfinite(value))
    return value;
  bool brain = dtype.code == runtime::DTypeCode::BFloat;
  int significant = brain ? 8 : 11, lowest = brain ? -126 : -14;
  int exponent = std::max(std::ilogb(value), lowest);
  double unit = std::ldexp(1.0, exponent - significant + 1);
  double rounded = std::nearbyint(value / unit) * unit;
  double largest = brain ? std::ldexp(2.0 - std::ldexp(1.0, -7), 127) : 65504.0;
  return std::fabs(rounded) > largest ? std::copysign(INFINITY, value) : rounded;
}

inline Wide wrap(DType dtype, Wide value) {
  Wide modulus = Wide(1) << dtype.bits;
  Wide rest = ((value % modulus) + modulus) % modulus;
  return dtype.isSigned() && rest >= modulus / 2 ? rest - modulus : rest;
}

inline Cell makeReal(DType dtype, double value) {
  return {roundReal(dtype, value), 0};
}
inline Cell makeWhole(DType dtype, Wide value) {
  return {0, wrap(dtype, value)};
}

/// The element with these bits.
inline Cell cellOf(DType dtype, uint64_t bits) {
  if (!dtype.isFloat())
    return {0, wrap(dtype, Wide(bits))};
  if (dtype.bits == 64)
    return {std::bit_cast<double>(bits), 0};
  if (dtype.bits == 32)
    return {std::bit_cast<float>(uint32_t(bits)), 0};
  if (dtype.code == runtime::DTypeCode::BFloat)
    return {std::bit_cast<float>(uint32_t(bits) << 16), 0};
  int exponent = int(bits >> 10 & 31);
  double fraction = double(bits & 1023);
  double size = exponent == 0    ? std::ldexp(fraction, -24)
                : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                 : std::ldexp(1024 + fraction, exponent - 25);
  return {bits >> 15 & 1 ? -size : size, 0};
}

/// The bits of an element.
inline uint64_t bitsOf(DType dtype, const Cell& cell) {
  if (!dtype.isFloat())
    return uint64_t(cell.whole) & (~uint64_t(0) >> (64 - dtype.bits));
  if (dtype.bits == 64)
    return std::bit_cast<uint64_t>(cell.real);
  if (dtype.bits == 32)
    return std::bit_cast<uint32_t>(float(cell.real));
  return dtype.code == runtime::DTypeCode::BFloat ? runtime::BHalf(float(cell.real)).bits
                                                  : runtime::Half(float(cell.real)).bits;
}

/// Reads a tensor of the runtime.
inline Cells read(const runtime::Tensor& tensor) {
  Cells result{tensor.dtype(), tensor.shape(), {}};
  DType dtype = tensor.dtype();
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes() + size_t(i) * dtype.bytes(), dtype.bytes());
    result.cells.push_back(cellOf(dtype, bits));
  }
  return result;
}

class Machine {
public:
  explicit Machine(const lang::TensorFunction& function) : function_(function) {}

  /// The results; throws OracleFault.
  std::vector<Cells> run(std::vector<Cells> inputs) {
    tensors_ = std::move(inputs);
    for (size_t i = 0; i < function_.stages.size(); ++i)
      runStage(function_.stages[i], function_.tensors[function_.inputCount + i]);
    std::vector<Cells> results;
    for (uint32_t result : function_.results)
      results.push_back(tensors_[result]);
    return results;
  }

private:
  using Visit = std::function<void()>;

  void eachPosition(std::span<const lang::LoopAxis> axes, const Visit& visit) {
    if (axes.empty()) {
      visit();
      return;
    }
    int64_t extent = int64_t(evaluate(axes[0].extent).whole);
    for (int64_t i = 0; i < extent; ++i) {
      position_[axes[0].number] = i;
      eachPosition(axes.subspan(1), visit);
    }
  }

  void runStage(const lang::Stage& stage, const lang::TensorInfo& info) {
    Cells result{info.dtype, {}, {}};
    for (const lang::ScalarNode* extent : info.shape)
      result.shape.push_back(int64_t(evaluate(extent).whole));
    if (stage.kind == lang::StageKind::Map)
      eachPosition(stage.axes, [&] { result.cells.push_back(evaluate(stage.body)); });
    else
      result.cells = tensors_[stage.source].cells;
    if (stage.kind == lang::StageKind::Scan)
      scan(stage, result);
    tensors_.push_back(std::move(result));
  }

  void scan(const lang::Stage& stage, Cells& result) {
    size_t inner = 1, extent = size_t(result.shape[stage.axis]);
    for (size_t i = stage.axis + 1; i < result.shape.size(); ++i)
      inner *= size_t(result.shape[i]);
    const std::vector<Cell> source = result.cells;
    bool sums = stage.combiner == lang::Combiner::Sum;
    for (size_t i = 0; i < source.size(); ++i) {
      size_t k = i / inner % extent;
      Cell total{sums ? 0.0 : 1.0, sums ? 0 : 1};
      for (size_t j = 0; j < k + (stage.exclusive ? 0 : 1); ++j) {
        const Cell& cell = source[i - (k - j) * inner];
        total = sums ? Cell{total.real + cell.real, wrap(result.dtype, total.whole + cell.whole)}
                     : Cell{total.real * cell.real, wrap(result.dtype, total.whole * cell.whole)};
      }
      result.cells[i] = result.dtype.isFloat() ? makeReal(result.dtype, total.real)
                                               : makeWhole(result.dtype, total.whole);
    }
  }

  Cell evaluate(const lang::ScalarNode* node) {
    DType dtype = node->dtype;
    if (const auto* number = node->as<lang::ScalarNumber>())
      return dtype.isFloat() ? makeReal(dtype, number->real) : makeWhole(dtype, number->integer);
    if (const auto* index = node->as<lang::ScalarIndex>())
      return {0, position_[index->axis]};
    if (const auto* load = node->as<lang::ScalarLoad>())
      return evaluateLoad(*load);
    if (const auto* cast = node->as<lang::ScalarCast>())
      return convert(cast->operand->dtype, dtype, evaluate(cast->operand));
    if (const auto* reduce = node->as<lang::ScalarReduce>())
      return evaluateReduce(*reduce);
    return evaluateApply(*node->as<lang::ScalarApply>());
  }

  Cell evaluateLoad(const lang::ScalarLoad& load) {
    const Cells& tensor = tensors_[load.tensor];
    int64_t flat = 0;
    bool inside = true;
    for (size_t i = 0; i < load.position.size(); ++i) {
      int64_t at = int64_t(evaluate(load.position[i]).whole);
      inside = inside && at >= 0 && at < tensor.shape[i];
      flat = inside ? flat * tensor.shape[i] + at : 0;
    }
    if (inside)
      return tensor.cells[size_t(flat)];
    if (!load.outside)
      throw OracleFault{};
    return evaluate(load.outside);
  }

public:
  static Cell convert(DType from, DType to, const Cell& cell) {
    bool isZero = from.isFloat() ? cell.real == 0 : cell.whole == 0;
    if (to.isBool())
      return {0, isZero ? 0 : 1};
    if (to.isFloat())
      return makeReal(to, from.isFloat() ? cell.real : double(cell.whole));
    if (!from.isFloat())
      return makeWhole(to, cell.whole);
    if (std::isnan(cell.real))
      return {0, 0};
    Wide high = (Wide(1) << (to.bits - (to.isSigned() ? 1 : 0))) - 1;
    Wide low = to.isSigned() ? -high - 1 : 0;
    double whole = std::trunc(cell.real);
    return {0, whole >= 1.9e19    ? high
               : whole <= -1.9e19 ? low
                                  : std::max(low, std::min(high, Wide(whole)))};
  }

private:
  Cell evaluateReduce(const lang::ScalarReduce& reduce) {
    using lang::Combiner;
    DType from = reduce.body->dtype, dtype = reduce.dtype;
    std::vector<Cell> values;
    eachPosition(reduce.axes, [&] { values.push_back(evaluate(reduce.body)); });
    if (reduce.combiner >= Combiner::ArgMaximum)
      return makeWhole(dtype, extreme(reduce.combiner, from, values));
    auto holds = [&](const Cell& cell) {
      return from.isFloat() ? cell.real != 0 : cell.whole != 0;
    };
    bool minimum = reduce.combiner == Combiner::Minimum;
    Cell total = identity(reduce.combiner, dtype);
    for (const Cell& cell : values)
      switch (reduce.combiner) {
      case Combiner::Sum:
        total = {total.real + cell.real, wrap(dtype, total.whole + cell.whole)};
        break;
      case Combiner::Product:
        total = {total.real * cell.real, wrap(dtype, total.whole * cell.whole)};
        break;
      case Combiner::All:
      case Combiner::Any: {
        bool both = reduce.combiner == Combiner::All ? holds(total) && holds(cell)
                                                     : holds(total) || holds(cell);
        total = {double(both), both};
        break;
      }
      default:
        if (from.isFloat() ? std::isnan(cell.real) ||
                                 (minimum ? cell.real < total.real : cell.real > total.real)
                           : (minimum ? cell.whole < total.whole : cell.whole > total.whole))
          total = cell;
      }
    return dtype.isFloat() ? makeReal(dtype, total.real) : makeWhole(dtype, total.whole);
  }

  static Cell identity(lang::Combiner combiner, DType dtype) {
    using lang::Combiner;
    Wide high = (Wide(1) << (dtype.bits - (dtype.isSigned() ? 1 : 0))) - 1;
    Wide low = dtype.isSigned() ? -high - 1 : 0;
    switch (combiner) {
    case Combiner::Product:
    case Combiner::All:
      return {1, 1};
    case Combiner::Maximum:
      return {-INFINITY, low};
    case Combiner::Minimum:
      return {INFINITY, high};
    default:
      return {0, 0};
    }
  }

  static Wide extreme(lang::Combiner combiner, DType from, const std::vector<Cell>& values) {
    using lang::Combiner;
    bool maximum = combiner == Combiner::ArgMaximum || combiner == Combiner::ArgMaximumLast;
    bool last = combiner == Combiner::ArgMaximumLast || combiner == Combiner::ArgMinimumLast;
    size_t best = 0;
    for (size_t i = 1; i < values.size(); ++i) {
      const Cell &a = values[i], &b = values[best];
      bool beats = from.isFloat() ? (maximum ? a.real > b.real : a.real < b.real)
                                  : (maximum ? a.whole > b.whole : a.whole < b.whole);
      bool equal = from.isFloat() ? a.real == b.real : a.whole == b.whole;
      if (from.isFloat() && (std::isnan(a.real) || std::isnan(b.real))) {
        beats = !std::isnan(b.real);
        equal = std::isnan(a.real) && std::isnan(b.real);
      }
      if (beats || (equal && last))
        best = i;
    }
    return Wide(best);
  }

  Cell evaluateApply(const lang::ScalarApply& apply) {
    using lang::ScalarFunction;
    if (apply.function == ScalarFunction::Select) {
      Cell condition = evaluate(apply.operands[0]);
      bool holds = apply.operands[0]->dtype.isFloat() ? condition.real != 0 : condition.whole != 0;
      return evaluate(apply.operands[holds ? 1 : 2]);
    }
    std::vector<Cell> operands;
    for (const lang::ScalarNode* operand : apply.operands)
      operands.push_back(evaluate(operand));
    return applyFunction(apply.function, apply.operands[0]->dtype, apply.dtype, operands);
  }

public:
  /// A function of operands of type `from`; throws OracleFault for a zero divisor.
  static Cell applyFunction(lang::ScalarFunction function, DType from, DType dtype,
                            const std::vector<Cell>& operands) {
    const Cell& a = operands[0];
    if (function == lang::ScalarFunction::Reinterpret)
      return cellOf(dtype, bitsOf(from, a));
    const Cell b = operands.size() > 1 ? operands[1] : Cell{};
    if (auto test = comparison(function, from, a, b))
      return dtype.isFloat() ? Cell{double(*test), 0} : Cell{0, *test};
    if (from.isFloat())
      return makeReal(dtype, floatFunction(function, from, a.real, b.real));
    if (function == lang::ScalarFunction::FixedPointMultiply) {
      Wide product = a.whole * b.whole;
      int64_t shift = 31 - int64_t(operands[2].whole);
      if (shift <= 0)
        return makeWhole(dtype, shift > -64 ? Wide(wrap(runtime::Int64, product << -shift)) : 0);
      return makeWhole(dtype, shift > 100 ? 0 : (product + (Wide(1) << (shift - 1))) >> shift);
    }
    return makeWhole(dtype, wholeFunction(function, from, a.whole, b.whole));
  }

private:
  static std::optional<bool> comparison(lang::ScalarFunction function, DType from, const Cell& a,
                                        const Cell& b) {
    using enum lang::ScalarFunction;
    bool real = from.isFloat();
    bool less = real ? a.real < b.real : a.whole < b.whole;
    bool more = real ? a.real > b.real : a.whole > b.whole;
    bool same = real ? a.real == b.real : a.whole == b.whole;
    bool left = real ? a.real != 0 : a.whole != 0, right = real ? b.real != 0 : b.whole != 0;
    switch (function) {
    case Equal:
      return same;
    case NotEqual:
      return !same;
    case Less:
      return less;
    case LessEqual:
      return less || same;
    case Greater:
      return more;
    case GreaterEqual:
      return more || same;
    case LogicalAnd:
      return left && right;
    case LogicalOr:
      return left || right;
    case LogicalXor:
      return left != right;
    case LogicalNot:
      return !left;
    case IsNan:
      return real && std::isnan(a.real);
    case IsInf:
      return real && std::isinf(a.real);
    case IsFinite:
      return !real || std::isfinite(a.real);
    default:
      return std::nullopt;
    }
  }

  static Wide floorQuotient(Wide a, Wide b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  }

  static Wide wholeFunction(lang::ScalarFunction function, DType dtype, Wide a, Wide b) {
    using enum lang::ScalarFunction;
    bool divides = function == Divide || function == TruncDivide || function == TruncMod ||
                   function == FloorDivide || function == FloorMod;
    if (divides && b == 0)
      throw OracleFault{};
    switch (function) {
    case Add:
      return a + b;
    case Subtract:
      return a - b;
    case Multiply:
      return wrap(dtype, wrap(runtime::Int64, a) * wrap(runtime::Int64, b));
    case Divide:
    case TruncDivide:
      return a / b;
    case TruncMod:
      return a % b;
    case FloorDivide:
      return floorQuotient(a, b);
    case FloorMod:
      return a - floorQuotient(a, b) * b;
    case Power: {
      if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
      Wide result = 1, square = wrap(runtime::Int64, a);
      for (; b > 0; b /= 2) {
        if (b % 2 == 1)
          result = wrap(runtime::Int64, result * square);
        square = wrap(runtime::Int64, square * square);
      }
      return result;
    }
    case Maximum:
      return std::max(a, b);
    case Minimum:
      return std::min(a, b);
    case LeftShift:
      return b < 0 || b >= dtype.bits ? 0 : a << int(b);
    case RightShift:
      return b < 0 || b >= dtype.bits ? (a < 0 ? -1 : 0) : a >> int(b);
    case BitAnd:
      return a & b;
    case BitOr:
      return a | b;
    case BitXor:
      return a ^ b;
    case BitNot:
      return ~a;
    case Negative:
      return -a;
    case Abs:
      return a < 0 ? -a : a;
    case Sign:
      return a > 0 ? 1 : a < 0 ? -1 : 0;
    case Floor:
    case Ceil:
    case Trunc:
    case Round:
    case RoundEven:
      return a;
    default: {
      Cell real{realFunction(function, double(a), double(b)), 0};
      return convert(runtime::Float64, dtype, real).whole;
    }
    }
  }

  /// Quotients are rounded to float before they are made whole, except those of doubles.
  static double floatFunction(lang::ScalarFunction function, DType dtype, double a, double b) {
    using enum lang::ScalarFunction;
    if (dtype.bits <= 32 && (function == FloorDivide || function == TruncDivide)) {
      double quotient = float(a / b);
      return function == FloorDivide ? std::floor(quotient) : std::trunc(quotient);
    }
    return realFunction(function, a, b);
  }

  static double realFunction(lang::ScalarFunction function, double a, double b) {
    using enum lang::ScalarFunction;
    switch (function) {
    case Add:
      return a + b;
    case Subtract:
      return a - b;
    case Multiply:
      return a * b;
    case Divide:
      return a / b;
    case FloorDivide:
      return std::floor(a / b);
    case TruncDivide:
      return std::trunc(a / b);
    case TruncMod:
      return std::fmod(a, b);
    case FloorMod: {
      double rest = std::fmod(a, b);
      return rest != 0 && std::signbit(rest) != std::signbit(b) ? rest + b : rest;
    }
    case Power:
      return std::pow(a, b);
    case Maximum:
      return std::isnan(a) || a > b ? a : b;
    case Minimum:
      return std::isnan(a) || a < b ? a : b;
    case Negative:
      return -a;
    case Abs:
      return std::fabs(a);
    case Sign:
      return a > 0 ? 1 : a < 0 ? -1 : a;
    case Floor:
      return std::floor(a);
    case Ceil:
      return std::ceil(a);
    case Trunc:
      return std::trunc(a);
    case Round:
      return std::round(a);
    case RoundEven:
      return std::nearbyint(a);
    default:
      return analysisFunction(function, a);
    }
  }

  static double analysisFunction(lang::ScalarFunction function, double a) {
    using enum lang::ScalarFunction;
    switch (function) {
    case Sqrt:
      return std::sqrt(a);
    case Rsqrt:
      return 1 / std::sqrt(a);
    case Exp:
      return std::exp(a);
    case Log:
      return std::log(a);
    case Log2:
      return std::log2(a);
    case Log10:
      return std::log10(a);
    case Sin:
      return std::sin(a);
    case Cos:
      return std::cos(a);
    case Tan:
      return std::tan(a);
    case Sinh:
      return std::sinh(a);
    case Cosh:
      return std::cosh(a);
    case Tanh:
      return std::tanh(a);
    case Asin:
      return std::asin(a);
    case Acos:
      return std::acos(a);
    case Atan:
      return std::atan(a);
    case Asinh:
      return std::asinh(a);
    case Acosh:
      return std::acosh(a);
    case Atanh:
      return std::atanh(a);
    case Erf:
      return std::erf(a);
    case Sigmoid:
      return 1 / (1 + std::exp(-a));
    default:
      return NAN;
    }
  }

  const lang::TensorFunction& function_;
  std::vector<Cells> tensors_;
  std::map<uint32_t, int64_t> position_;
};

} // namespace oracle
