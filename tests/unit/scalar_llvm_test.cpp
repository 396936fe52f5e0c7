// The spelling of scalar functions in LLVM, held to their meaning by calling it: compiled as it
// stands, and optimised, which takes what is undefined for impossible.
//
// Where LLVM's programs are not installed, a warning says so, by which ctest knows that the test
// was skipped.
#include "runtime/scalar.h"
#include "tests/harness/scalar_llvm.h"
#include "tests/unit/places.h"
#include "tests/unit/scalar_cases.h"

namespace {

using runtime::DType, runtime::DTypeCode;
using tests::ScalarFunction;

/// What a program of LLVM 14 is called here after its name; any later version will do.
std::optional<std::string> llvmSuffix() {
  for (std::string suffix : {"-14", ""})
    if (std::system(fmt::format("opt{0} --version >/dev/null 2>&1 && "
                                "llc{0} --version >/dev/null 2>&1",
                                suffix)
                        .c_str()) == 0)
      return suffix;
  return std::nullopt;
}

/// The type in which a meaning is computed.
template <typename T>
using Computed = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <typename T>
constexpr DType dtypeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return runtime::Bool;
  return {std::floating_point<T> ? DTypeCode::Float
          : std::is_signed_v<T>  ? DTypeCode::Int
                                 : DTypeCode::UInt,
          8 * sizeof(T)};
}

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

/// One module of all functions.
std::string llvmModule() {
  std::string text;
  std::set<std::string> declarations;
  forEachMeaning([&]<ScalarFunction function, typename T>() {
    auto spelling = harness::scalarFunctionInLlvm(function, dtypeOf<T>());
    text += spelling.definition;
    declarations.merge(spelling.declarations);
  });
  for (const std::string& declaration : declarations)
    text += declaration + "\n";
  return text;
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
            Limits::min(),
            Limits::max(),
            T(94),
            T(-95),
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

/// The code is of a function that has as many operands.
template <typename R, typename T>
R called(void* code, size_t arity, T a, T b, T c) {
  switch (arity) {
  case 1:
    return reinterpret_cast<R (*)(T)>(code)(a);
  case 2:
    return reinterpret_cast<R (*)(T, T)>(code)(a, b);
  default:
    return reinterpret_cast<R (*)(T, T, T)>(code)(a, b, c);
  }
}

/// Compares on edges in all combinations, and on random operands.
template <ScalarFunction function, typename T>
void compare(void* code, tests::Operands& operands) {
  using R = decltype(meaningOf<function>(T(), T(), T()));
  size_t arity = runtime::scalarFunctionArity(function);
  auto compareAt = [&](T a, T b, T c) {
    R found = called<R>(code, arity, a, b, c), wanted = meaningOf<function>(a, b, c);
    if (!tests::areSameBits(found, wanted))
      FAIL(runtime::scalarFunctionName(function)
           << " of " << runtime::dtypeName(dtypeOf<T>()) << " " << +a << ", " << +b << ", " << +c
           << " is " << +found << " and not " << +wanted);
  };
  std::vector<T> all = edges<T>(), one{T()};
  for (T a : all)
    for (T b : arity > 1 ? all : one)
      for (T c : arity > 2 ? all : one)
        compareAt(a, b, c);
  for (int i = 0; i < 500; ++i) {
    T a = tests::operand<T>(operands), b = tests::operand<T>(operands);
    compareAt(a, b, tests::operand<T>(operands));
  }
}

} // namespace

TEST_CASE("The spelling of scalar functions in LLVM computes the same bits") {
  auto suffix = llvmSuffix();
  if (!suffix) {
    WARN("skipped: no opt and llc of LLVM");
    return;
  }
  std::string text = llvmModule();
  for (int level : {0, 2}) {
    INFO("optimised at level " << level);
    std::string commands =
        fmt::format("opt{0} -O{1} code.ll -o code.bc && "
                    "llc{0} -O{1} -relocation-model=pic -filetype=obj code.bc -o code.o && "
                    "'{2}' -shared -o code.so code.o -lm",
                    *suffix, level, tests::compiler().string());
    tests::CompiledText library("code.ll", text, commands);
    tests::Operands operands;
    size_t compared = 0;
    forEachMeaning([&]<ScalarFunction function, typename T>() {
      void* code = library.find(fmt::format("{}_{}", runtime::scalarFunctionName(function),
                                            runtime::dtypeName(dtypeOf<T>())));
      REQUIRE(code != nullptr);
      compare<function, T>(code, operands);
      ++compared;
    });
    CHECK(compared > 400);
  }
}
