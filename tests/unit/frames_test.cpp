// Slots of activations: own variables first, captured ones behind them, each in a place of its own.
#include "lang/ir/frames.h"

#include "driver/session/session.h"
#include "lang/ir/walk.h"
#include "stdlib/ops.h"

#include <catch2/catch.hpp>
#include <set>

TEST_CASE("a captured variable has another slot in each function that captures it", "[frames]") {
  driver::Session session(stdlib::operatorTable());
  auto loaded = session.loadText("test", "#[version = \"0.0.5\"]\n"
                                         "def @main(%a: int32, %b: int32, %c: int32) {\n"
                                         "  let %f = fn (%x: int32) {\n"
                                         "    let %g = fn (%y: int32) { (%c, %y, %b) };\n"
                                         "    (%b, %x, %a, %g)\n"
                                         "  };\n"
                                         "  %f\n"
                                         "}");
  REQUIRE(loaded);
  REQUIRE(loaded->isGood());
  const lang::Function& main = *loaded->module->find("main")->function;
  const auto& outer = *main.body->bindings[0].value->as<lang::Function>();
  const auto& inner = *outer.body->bindings[0].value->as<lang::Function>();
  lang::Frames frames(*loaded->module);
  const auto& [a, b, c] = std::tie(*main.parameters[0], *main.parameters[1], *main.parameters[2]);
  for (size_t i = 0; i < 3; ++i)
    CHECK(frames.slot(main, *main.parameters[i]) == i);
  auto checkCaptured = [&](const lang::Function& function, std::set<const lang::Var*> wanted) {
    const lang::FrameLayout& layout = frames.layout(function);
    CHECK(std::set(layout.captures.begin(), layout.captures.end()) == wanted);
    for (size_t i = 0; i < layout.captures.size(); ++i)
      CHECK(frames.slot(function, *layout.captures[i]) == layout.own.size() + i);
  };
  checkCaptured(outer, {&a, &b, &c});
  checkCaptured(inner, {&b, &c});
  CHECK(frames.slot(inner, *inner.parameters[0]) == 0);
}
