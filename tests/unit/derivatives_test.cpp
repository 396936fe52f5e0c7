// Derivatives of programs that nothing was simplified in: what a run differentiates has no closures
// and few matches left, so these go to the pass as they stand.
#include "harness/reader.h"
#include "interp/interpret.h"
#include "interp/reference.h"
#include "stdlib/ops.h"
#include "transform/run_passes.h"
#include "typecheck/check.h"

#include <catch2/catch.hpp>

namespace {

using runtime::Value;

/// What the pass makes of a text; the reader must live as long.
runtime::Checked<transform::TypedModule> derived(harness::Reader& reader, const std::string& text) {
  harness::ReadText read = reader.read("#[version = \"0.0.5\"]\n" + text);
  INFO(reader.errorText(read));
  REQUIRE(read.isGood());
  auto check = [](const lang::Module& module, lang::Diagnostics& diagnostics) {
    return typecheck::checkModule(module, stdlib::operatorTable(), diagnostics);
  };
  const transform::PassRow* pass = transform::findPass("derivatives");
  return transform::runPasses(
      *read.module, read.typing, {&pass, 1},
      {.operators = stdlib::operatorTable(), .check = check, .verify = true});
}

/// What `@main`, which takes a float64 and gives one, gives after the pass.
double valueAt(const std::string& text, double x) {
  INFO(text);
  lang::TypeContext types;
  harness::Reader reader(types);
  auto made = derived(reader, text);
  if (!made)
    FAIL(made.failure().text);
  auto result = interp::interpret(
      *made->module, made->typing, stdlib::operatorTable(), *made->module->find("main"),
      {runtime::tensorValue(runtime::Tensor::scalar(runtime::Float64, x))},
      {.engine = interp::referenceEngine()});
  if (auto* fault = std::get_if<interp::Fault>(&result))
    FAIL(fault->problem);
  return std::get<Value>(result).tensor().elements<double>()[0];
}

/// Why the pass refuses a text.
std::string refusal(const std::string& text) {
  lang::TypeContext types;
  harness::Reader reader(types);
  auto made = derived(reader, text);
  return made ? "" : made.failure().text;
}

} // namespace

TEST_CASE("declared types of what holds functions stay in derivatives") {
  const std::string f = R"(
    type Step[A] {
      Keep(float64),
      Apply(fn (float64) -> float64, A),
    }
    def @f(%x: float64) -> float64 {
      let %s: Step[fn () -> float64] = Keep(%x);
      let %y = match (%s) { Keep(%v) => %v * %x, Apply(%f, _) => %f(%x) };
      match (Nil) { Cons(%g: fn () -> float64, _) => %g(), _ => %y * %x }
    }
  )";
  CHECK(valueAt(f + "def @main(%x: float64) { grad(@f)(%x) }", 2) == 12);
  CHECK(valueAt(f + "def @main(%x: float64) { jvp(@f)(%x, 3f64).1 }", 2) == 36);
}

TEST_CASE("the tangent of a constructor has the type arguments that its fields do not tell") {
  const std::string f = R"(
    type Way[A, B] {
      Left(A),
      Both(A, Option[B]),
    }
    def @f(%x: float64) -> float64 {
      let %w: Way[float64, float64] = Left(%x);
      match (%w) { Left(%a) => %a * %x, Both(%a, Some(%b)) => %b, Both(%a, None) => %a }
    }
  )";
  CHECK(valueAt(f + "def @main(%x: float64) { jvp(@f)(%x, 1f64).1 }", 3) == 6);
  CHECK(valueAt(f + "def @main(%x: float64) { grad(@f)(%x) }", 3) == 6);
}

TEST_CASE("a local function that is generic has a derivative only where it is written out") {
  const std::string f = R"(
    def @f(%x: float64) {
      let %keep = fn [A](%a: A) -> A { %a };
      )";
  for (const char* main : {"def @main(%x: float64) { grad(@f)(%x) }",
                           "def @main(%x: float64) { jvp(@f)(%x, 1f64).1 }"}) {
    CHECK(valueAt(f + "%x * %x }" + main, 3) == 6);
    CHECK(refusal(f + "%keep(%x) * %x }" + main) ==
          "the derivative of a local function, which is generic, is asked for, and which function "
          "that is, is not known here");
  }
}
