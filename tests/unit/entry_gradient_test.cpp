// What gradients of entries cost in code, which the values that they give do not tell.
#include "driver/session/derive.h"
#include "driver/session/session.h"
#include "lang/ir/walk.h"
#include "stdlib/ops.h"

#include <catch2/catch.hpp>

namespace {

/// How many bindings are in the gradient of `@main` of an order, with all that it calls.
size_t sizeOfOrder(const std::string& text, unsigned order) {
  driver::Session session(stdlib::operatorTable());
  auto program = session.loadText("test", "#[version = \"0.0.5\"]\n" + text);
  REQUIRE(program);
  REQUIRE(program->isGood());
  driver::Derivation derivation(session, *program);
  REQUIRE(derivation.writeOut(transform::mainAlone));
  REQUIRE(derivation.addGradient("main", order));
  size_t count = 0;
  lang::walk(
      *program->module, [&](const lang::Binding&) { ++count; }, [](const lang::Operand&) {});
  return count;
}

} // namespace

TEST_CASE("orders of a function of one number that calls itself cost a power of their number") {
  const std::string recursion =
      "def @power(%x: float64, %n: int32) -> float64 {\n"
      "  if (%n == 0) { 1f64 } else { %x * @power(%x, %n - 1) }\n"
      "}\n"
      "def @main(%x: float64) -> float64 { @power(%x, 12) }\n";
  const std::string loop = "def @main(%x: float64) -> float64 {\n"
                           "  @loop(0, 12, fn (%i: int32, %y: float64) { %y * %x }, 1f64)\n"
                           "}\n";
  for (const std::string& text : {recursion, loop}) {
    const size_t few = sizeOfOrder(text, 4), many = sizeOfOrder(text, 8);
    CAPTURE(few, many);
    // Each order twice as much would be 16 times.
    CHECK(many <= 12 * few);
  }
}
