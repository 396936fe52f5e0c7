// Programs of scalar functions against reals of many digits, with fused multiply-adds and without.
#include "driver/math_accuracy.h"
#include "tests/unit/command.h"

namespace {

using codegen::mathProgram;
using runtime::DType;
using runtime::ScalarFunction;
using enum runtime::ScalarFunction;

constexpr size_t points = 20000;

std::vector<ScalarFunction> functionsOfFloats() {
  std::vector<ScalarFunction> functions;
  for (size_t i = 0; i < runtime::scalarFunctionCount; ++i)
    if (mathProgram(ScalarFunction(i), runtime::Float32))
      functions.push_back(ScalarFunction(i));
  return functions;
}

/// The most units in the last place that a function may be off.
struct Limit {
  ScalarFunction function;
  double narrow;
  double wide;
};

constexpr Limit limits[] = {
    {Exp, 1.2, 1.15},    {Log, 0.85, 0.85},  {Log2, 0.51, 0.51}, {Log10, 0.51, 0.51},
    {Sqrt, 0.5, 0.5},    {Rsqrt, 1.5, 1.5},  {Sin, 0.65, 0.8},   {Cos, 0.65, 0.8},
    {Tan, 0.65, 1},      {Sinh, 1.7, 1.7},   {Cosh, 1.5, 1.6},   {Tanh, 1.4, 1.4},
    {Asin, 0.51, 1.2},   {Acos, 0.51, 0.8},  {Atan, 0.6, 1.7},   {Asinh, 0.51, 1.1},
    {Acosh, 0.51, 0.51}, {Atanh, 0.51, 1.1}, {Erf, 1.2, 1.4},    {Sigmoid, 1.8, 1.8},
    {Power, 0.6, 1.3},
};

/// Others are exact.
double limitOf(ScalarFunction function, DType dtype) {
  for (const Limit& limit : limits)
    if (limit.function == function)
      return dtype == runtime::Float32 ? limit.narrow : limit.wide;
  return 0;
}

void checkAccuracy(DType dtype) {
  for (ScalarFunction function : functionsOfFloats()) {
    auto accuracy = driver::mathAccuracy(function, dtype, points);
    REQUIRE(accuracy);
    for (const driver::MathError& error : {accuracy->fused, accuracy->unfused}) {
      CAPTURE(runtime::scalarFunctionName(function), error.arguments[0], error.arguments[1],
              error.found);
      CHECK(error.units <= limitOf(function, dtype));
    }
  }
}

} // namespace

TEST_CASE("programs of float32 are within their limits", "[math]") {
  checkAccuracy(runtime::Float32);
}

TEST_CASE("programs of float64 are within their limits", "[math]") {
  checkAccuracy(runtime::Float64);
}

TEST_CASE("ulp tells errors and instructions", "[math]") {
  tests::Answer one = tests::baton({"ulp", "is_nan", "--dtype", "float64", "--points", "100"});
  CHECK(one.code == tests::ExitCode::Good);
  CHECK(one.output.find("is_nan         float64             1  0") != std::string::npos);
  tests::Answer off = tests::baton({"ulp", "sqrt", "--points", "1000"});
  CHECK(off.output.find("float32             1  0.500 at ") != std::string::npos);
  tests::checkError(tests::baton({"ulp", "sigmiod"}), tests::ExitCode::World,
                    "did you mean `sigmoid`?");
  tests::checkError(tests::baton({"ulp", "left_shift"}), tests::ExitCode::World,
                    "there is no function of floats `left_shift`");
  tests::checkError(tests::baton({"ulp", "--dtype", "float16"}), tests::ExitCode::World,
                    "and not of `float16`");
}

TEST_CASE("every function of floats but moves has a program", "[math]") {
  for (DType dtype : {runtime::Float32, runtime::Float64})
    for (size_t i = 0; i < runtime::scalarFunctionCount; ++i) {
      auto function = ScalarFunction(i);
      const bool isOfWholes = function == LeftShift || function == RightShift ||
                              function == BitAnd || function == BitOr || function == BitXor ||
                              function == BitNot || function == FixedPointMultiply;
      const bool isMove = function == Select || function == Reinterpret;
      CAPTURE(runtime::scalarFunctionName(function));
      CHECK((mathProgram(function, dtype) != nullptr) == !(isOfWholes || isMove));
    }
  CHECK(mathProgram(Exp, runtime::Float16) == nullptr);
  CHECK(mathProgram(Exp, runtime::Int32) == nullptr);
}
