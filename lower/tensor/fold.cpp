// Folding of integer constants and of the trivial cases of index arithmetic and of logic.
#include "lower/tensor/fold.h"

#include "runtime/half.h"
#include "runtime/scalar_meaning.h"

namespace tensor {

using runtime::DType;

namespace {

/// Rounds a constant to its type, so that engines see the value that the program's type can hold.
double roundTo(DType dtype, double value) {
  if (dtype == runtime::Float32)
    return float(value);
  if (dtype == runtime::Float16)
    return float(runtime::Half(runtime::floatRoundedToOdd(value)));
  if (dtype == runtime::BFloat16)
    return float(runtime::BHalf(runtime::floatRoundedToOdd(value)));
  return value;
}

/// Whether the meaning on int64 is that on integers, but for the smallest one over -1.
constexpr bool wrapsNowhere(ScalarFunction function) {
  using enum ScalarFunction;
  return (function >= FloorDivide && function <= TruncMod) || function == Maximum ||
         function == Minimum || (function >= LogicalAnd && function <= LogicalXor) ||
         (function >= Equal && function <= GreaterEqual);
}

template <ScalarFunction function>
std::optional<int64_t> valueOf(int64_t a, int64_t b) {
  if constexpr (wrapsNowhere(function))
    return int64_t(runtime::applied<function>(a, b));
  return std::nullopt;
}

std::optional<int64_t> foldExactly(ScalarFunction function, int64_t a, int64_t b) {
  switch (function) {
#define SCALAR_FUNCTION(name, ...)                                                                 \
  case ScalarFunction::name:                                                                       \
    return valueOf<ScalarFunction::name>(a, b);
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
  }
  return std::nullopt;
}

/// The value of a function of two int64 constants; nothing where it wraps or is a fault.
std::optional<int64_t> foldIntegers(ScalarFunction function, int64_t a, int64_t b) {
  if (scalarFunctionDivides(function) && (b == 0 || (b == -1 && a == INT64_MIN)))
    return std::nullopt;
  int64_t value = 0;
  switch (function) {
  case ScalarFunction::Add:
    return __builtin_add_overflow(a, b, &value) ? std::nullopt : std::optional(value);
  case ScalarFunction::Subtract:
    return __builtin_sub_overflow(a, b, &value) ? std::nullopt : std::optional(value);
  case ScalarFunction::Multiply:
    return __builtin_mul_overflow(a, b, &value) ? std::nullopt : std::optional(value);
  default:
    return foldExactly(function, a, b);
  }
}

/// The cases of index arithmetic that need no node: x + 0, x * 1, x / 1, x mod 1, 0 * x.
const ScalarNode* foldIdentity(Arena& arena, ScalarFunction function, const ScalarNode* a,
                               const ScalarNode* b) {
  auto left = integerOf(a), right = integerOf(b);
  switch (function) {
  case ScalarFunction::Add:
    return right == 0 ? a : left == 0 ? b : nullptr;
  case ScalarFunction::Subtract:
    return right == 0 ? a : nullptr;
  case ScalarFunction::Multiply:
    if (right == 1 || left == 0)
      return a;
    return left == 1 || right == 0 ? b : nullptr;
  case ScalarFunction::FloorDivide:
    return right == 1 ? a : nullptr;
  case ScalarFunction::FloorMod:
    return right == 1 ? makeInteger(arena, 0) : nullptr;
  default:
    return nullptr;
  }
}

const ScalarNode* foldIndex(Arena& arena, ScalarFunction function, const ScalarNode* a,
                            const ScalarNode* b) {
  auto left = integerOf(a), right = integerOf(b);
  bool givesBool = scalarFunctionGivesBool(function);
  if (left && right)
    if (auto value = foldIntegers(function, *left, *right))
      return givesBool ? makeNumber(arena, runtime::Bool, double(*value))
                       : makeInteger(arena, *value);
  if (const ScalarNode* same = foldIdentity(arena, function, a, b))
    return same;
  // A loop's index or an extent equals itself; a load may fault.
  bool isPlain = a->kind == ScalarKind::Index || a->kind == ScalarKind::Size;
  auto holds = a == b && isPlain && givesBool ? foldIntegers(function, 0, 0) : std::nullopt;
  return holds ? makeNumber(arena, runtime::Bool, double(*holds)) : nullptr;
}

/// Logic and choices that a constant decides.
const ScalarNode* foldLogic(ScalarFunction function, std::span<const ScalarNode* const> operands) {
  auto first = integerOf(operands[0]);
  if (function == ScalarFunction::Select && first)
    return operands[*first != 0 ? 1 : 2];
  bool isAnd = function == ScalarFunction::LogicalAnd;
  if (!(isAnd || function == ScalarFunction::LogicalOr) || !operands[0]->dtype.isBool() ||
      !operands[1]->dtype.isBool())
    return nullptr;
  auto second = integerOf(operands[1]);
  if (first)
    return operands[(*first != 0) == isAnd ? 1 : 0];
  return second ? operands[(*second != 0) == isAnd ? 0 : 1] : nullptr;
}

} // namespace

std::optional<int64_t> integerOf(const ScalarNode* node) {
  const auto* constant = node ? node->as<ScalarNumber>() : nullptr;
  if (!constant || constant->dtype.isFloat())
    return std::nullopt;
  return constant->integer;
}

const ScalarNode* makeNumber(Arena& arena, DType dtype, double value) {
  if (dtype.isFloat())
    return arena.make<ScalarNumber>(ScalarNode{ScalarKind::Number, dtype}, roundTo(dtype, value),
                                    int64_t(0));
  int64_t integer = dtype.isBool()                    ? value != 0
                    : value >= 9223372036854775808.0  ? INT64_MAX
                    : value <= -9223372036854775808.0 ? INT64_MIN
                                                      : int64_t(value);
  return arena.make<ScalarNumber>(ScalarNode{ScalarKind::Number, dtype}, 0.0, integer);
}

const ScalarNode* makeInteger(Arena& arena, int64_t value) {
  return arena.make<ScalarNumber>(ScalarNode{ScalarKind::Number, runtime::Int64}, 0.0, value);
}

const ScalarNode* makeApply(Arena& arena, ScalarFunction function, DType dtype,
                            std::span<const ScalarNode* const> operands) {
  if (operands.size() == 2 && operands[0]->dtype == runtime::Int64)
    if (const ScalarNode* folded = foldIndex(arena, function, operands[0], operands[1]))
      return folded;
  if (operands.size() >= 2)
    if (const ScalarNode* folded = foldLogic(function, operands))
      return folded;
  if (function == ScalarFunction::LogicalNot && operands[0]->dtype.isBool())
    if (auto truth = integerOf(operands[0]))
      return makeNumber(arena, runtime::Bool, *truth == 0);
  return arena.make<ScalarApply>(ScalarNode{ScalarKind::Apply, dtype}, function,
                                 arena.copy(operands));
}

const ScalarNode* makeCast(Arena& arena, const ScalarNode* operand, DType dtype) {
  if (operand->dtype == dtype)
    return operand;
  bool isExtent = operand->dtype == runtime::Int64 || operand->dtype.isBool();
  auto value = isExtent ? integerOf(operand) : std::nullopt;
  constexpr int64_t exact = int64_t(1) << 53;
  bool isKept = value && (dtype == runtime::Int64 ||
                          (dtype.isFloat() && *value >= -exact && *value <= exact &&
                           roundTo(dtype, double(*value)) == double(*value)));
  if (isKept)
    return dtype == runtime::Int64 ? makeInteger(arena, *value)
                                   : makeNumber(arena, dtype, double(*value));
  return arena.make<ScalarCast>(ScalarNode{ScalarKind::Cast, dtype}, operand);
}

bool runsOnce(const ScalarNode* extent) {
  return integerOf(extent) == 1;
}

} // namespace tensor
