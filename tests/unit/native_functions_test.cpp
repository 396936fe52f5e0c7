// Scalar functions in machine code, each on each type in a nest of its own: those that have a
// program give its bits, all others the bits of their meaning.
//
// Without LLVM there is no native code; a warning says so.
#include "codegen/math/run.h"
#include "codegen/native/native_code.h"
#include "lower/loops/choose.h"
#include "lower/tensor/fold.h"
#include "runtime/scalar.h"
#include "tests/harness/run_nest.h"
#include "tests/unit/scalar_cases.h"

#include <array>

namespace {

using codegen::Processor, codegen::Rounding;
using runtime::DType, runtime::DTypeCode, runtime::Tensor;
using tests::ScalarFunction;

template <typename T>
constexpr DType dtypeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return runtime::Bool;
  return {std::floating_point<T> ? DTypeCode::Float
          : std::is_signed_v<T>  ? DTypeCode::Int
                                 : DTypeCode::UInt,
          8 * sizeof(T)};
}

/// The type in which a meaning is computed.
template <typename T>
using Computed = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <ScalarFunction function, typename T>
auto meaningOf(T a, T b, T c) {
  if constexpr (std::is_same_v<T, bool>)
    return runtime::wrap(runtime::Bool, runtime::wholeFunction(function, runtime::Bool, a, b, c)) !=
           0;
  else
    return runtime::applied<function>(a, b, c);
}

/// Calls `visit.operator()<function, T>()` where the function has a meaning on T. That of fixed
/// point is of int32 alone.
template <typename Visit>
void forEachMeaning(Visit&& visit) {
  auto ofType = [&]<typename T>() {
    tests::forEachFunction([&]<ScalarFunction function>() {
      constexpr bool isWanted =
          function != ScalarFunction::FixedPointMultiply || std::is_same_v<T, int32_t>;
      if constexpr (isWanted && runtime::HasMeaning<function, Computed<T>>)
        visit.template operator()<function, T>();
    });
  };
  tests::forEachType(ofType);
  ofType.template operator()<bool>();
}

template <typename T>
std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>)
    return {false, true};
  else if constexpr (std::integral<T>)
    return {0,
            1,
            T(-1),
            2,
            T(-2),
            3,
            7,
            8,
            15,
            16,
            31,
            32,
            63,
            64,
            T(-7),
            T(-64),
            T(94),
            T(-95),
            Limits::min(),
            Limits::max(),
            T(200),
            T(-31),
            T(Limits::min() + 1)};
  else
    return {0,
            T(-0.0),
            T(0.5),
            T(-0.5),
            1,
            -1,
            T(1.5),
            T(2.5),
            T(-2.5),
            3,
            T(-7.25),
            T(0.49999997),
            T(8388607.5),
            T(1e20),
            T(-3e-20),
            Limits::max(),
            Limits::lowest(),
            Limits::min(),
            Limits::denorm_min(),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::quiet_NaN()};
}

/// Operands in rows: edges in all combinations, and random ones.
template <typename T>
std::array<std::vector<T>, 3> operandRows(ScalarFunction function, tests::Operands& operands) {
  size_t arity = runtime::scalarFunctionArity(function);
  // A whole divisor of zero is a fault, which is not what this is about.
  bool wantsDivisor = std::integral<T> && runtime::scalarFunctionDivides(function);
  std::array<std::vector<T>, 3> rows;
  auto add = [&](T a, T b, T c) {
    if (wantsDivisor && b == T(0))
      return;
    rows[0].push_back(a);
    rows[1].push_back(b);
    rows[2].push_back(c);
  };
  std::vector<T> all = edges<T>(), one{T(1)};
  for (T a : all)
    for (T b : arity > 1 ? all : one)
      for (T c : arity > 2 ? all : one)
        add(a, b, c);
  for (int i = 0; i < 500; ++i) {
    T a = tests::operand<T>(operands), b = tests::operand<T>(operands);
    add(a, b, tests::operand<T>(operands));
  }
  return rows;
}

/// `y[i] = function(x0[i], ...)` for so many elements, as the choosers schedule it.
loops::Nest nestOf(ScalarFunction function, DType dtype, int64_t elements,
                   const Processor& processor) {
  tensor::TensorFunction made;
  runtime::Arena& arena = *made.arena;
  const tensor::ScalarNode* extent = tensor::makeInteger(arena, elements);
  const tensor::ScalarNode* index = arena.make<tensor::ScalarIndex>(
      tensor::ScalarNode{tensor::ScalarKind::Index, runtime::Int64}, 0u);
  auto position = arena.copy(std::array{index});
  std::vector<const tensor::ScalarNode*> loads;
  for (uint32_t i = 0; i < runtime::scalarFunctionArity(function); ++i) {
    made.tensors.push_back({dtype, {extent}});
    loads.push_back(arena.make<tensor::ScalarLoad>(
        tensor::ScalarNode{tensor::ScalarKind::Load, dtype}, i, position, nullptr));
  }
  made.inputCount = loads.size();
  DType result = runtime::scalarFunctionGivesBool(function) ? runtime::Bool : dtype;
  made.tensors.push_back({result, {extent}});
  made.stages.push_back({.axes = arena.copy(std::array{tensor::LoopAxis{0, extent}}),
                         .body = tensor::makeApply(arena, function, result, loads)});
  made.results = {uint32_t(made.inputCount)};
  auto nest = harness::closedNest(made);
  REQUIRE(nest);
  return loops::scheduled(*nest, codegen::modelOf(processor)).nest;
}

/// The elements of the only result.
template <typename R, typename T>
std::vector<R> runNatively(ScalarFunction function, const std::array<std::vector<T>, 3>& rows,
                           const Processor& processor) {
  auto elements = int64_t(rows[0].size());
  auto compiled =
      codegen::compileNest(nestOf(function, dtypeOf<T>(), elements, processor), processor);
  if (!compiled)
    FAIL(compiled.failure().message);
  std::vector<Tensor> tensors;
  std::vector<const std::byte*> inputs;
  for (size_t i = 0; i < runtime::scalarFunctionArity(function); ++i) {
    Tensor& tensor = tensors.emplace_back(dtypeOf<T>(), runtime::Shape{elements});
    std::ranges::copy(rows[i], tensor.elements<T>().begin());
    inputs.push_back(tensor.bytes());
  }
  Tensor result(dtypeOf<R>(), {elements});
  std::array outputs{result.bytes()};
  REQUIRE(codegen::NativeRun(*compiled, {}).run(inputs, outputs, 1));
  auto found = result.elements<R>();
  return {found.begin(), found.end()};
}

/// The bits that the program of a function of floats gives; nothing where it has none.
template <typename R, typename T>
std::optional<std::vector<R>> programResults(ScalarFunction function,
                                             const std::array<std::vector<T>, 3>& rows,
                                             Rounding rounding) {
  const codegen::MathProgram* program = codegen::mathProgram(function, dtypeOf<T>());
  if (!program)
    return std::nullopt;
  std::vector<std::vector<uint64_t>> parameters(runtime::scalarFunctionArity(function));
  for (size_t i = 0; i < parameters.size(); ++i)
    for (T value : rows[i])
      std::memcpy(&parameters[i].emplace_back(0), &value, sizeof(T));
  std::vector<std::span<const uint64_t>> spans(parameters.begin(), parameters.end());
  std::vector<uint64_t> bits(rows[0].size());
  codegen::runMathProgram(*program, rounding, spans, bits);
  std::vector<R> results;
  for (uint64_t value : bits) {
    Computed<R> result;
    std::memcpy(&result, &value, sizeof(result));
    results.push_back(R(result));
  }
  return results;
}

/// `meanings` are those of a function in each row.
template <typename R, typename T>
void compare(ScalarFunction function, const std::array<std::vector<T>, 3>& rows,
             const std::vector<R>& meanings, const Processor& processor) {
  auto found = runNatively<R>(function, rows, processor);
  Rounding rounding = processor.has("+fma") ? Rounding::Fused : Rounding::Unfused;
  auto wanted = programResults<R>(function, rows, rounding).value_or(meanings);
  for (size_t i = 0; i < found.size(); ++i)
    if (!tests::areSameBits<R>(found[i], wanted[i]))
      FAIL(runtime::scalarFunctionName(function)
           << " of " << runtime::dtypeName(dtypeOf<T>()) << " " << +rows[0][i] << ", "
           << +rows[1][i] << ", " << +rows[2][i] << " is " << +found[i] << " and not "
           << +wanted[i]);
}

} // namespace

TEST_CASE("scalar functions in machine code give the bits of their meaning or program") {
  auto host = codegen::hostProcessor();
  if (!host) {
    WARN(host.failure().message);
    return;
  }
  tests::Operands operands;
  size_t compared = 0;
  forEachMeaning([&]<ScalarFunction function, typename T>() {
    using R = decltype(meaningOf<function>(T(), T(), T()));
    auto rows = operandRows<T>(function, operands);
    std::vector<R> meanings;
    for (size_t i = 0; i < rows[0].size(); ++i)
      meanings.push_back(meaningOf<function, T>(rows[0][i], rows[1][i], rows[2][i]));
    compare<R>(function, rows, meanings, *host);
    ++compared;
  });
  CHECK(compared > 400);
}
