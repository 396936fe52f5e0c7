// Limits to what a run may use, on the machine and on the interpreter.
#include "codegen/strips/compile/sized.h"
#include "interp/interpret.h"
#include "runtime/memory.h"
#include "tests/unit/checked_program.h"
#include "vm/bytecode/run.h"

#include <thread>

using runtime::FaultKind;
using runtime::RunLimits;
using Ending = std::variant<runtime::Value, runtime::RunFault>;

namespace {

/// A program that can be run again and again.
class Limited {
public:
  explicit Limited(const std::string& text) {
    auto loaded =
        session_.loadText("test", "#[version = \"0.0.5\"]\n" + text, driver::Stage::Checked);
    REQUIRE(loaded);
    program_ = std::move(*loaded);
    REQUIRE(program_.isGood());
  }

  Ending onMachine(const RunLimits& limits) {
    return bytecode::run(*program_.module, program_.typing, session_.operators(), *main(), {},
                         {.engine = strips::stripsEngine(), .run = {.limits = limits}});
  }

  Ending interpreted(const RunLimits& limits) {
    interp::Options options{.engine = strips::stripsEngine()};
    options.limits = limits;
    return interp::interpret(*program_.module, program_.typing, session_.operators(), *main(), {},
                             options);
  }

  Ending run(bool isOnMachine, const RunLimits& limits) {
    return isOnMachine ? onMachine(limits) : interpreted(limits);
  }

private:
  const lang::Global* main() { return program_.module->find("main"); }

  driver::Session session_{stdlib::operatorTable()};
  driver::Program program_;
};

std::optional<FaultKind> kindOf(const Ending& ending) {
  const auto* fault = std::get_if<runtime::RunFault>(&ending);
  return fault ? std::optional(fault->kind) : std::nullopt;
}

} // namespace

TEST_CASE("engines count the same steps", "[limits]") {
  struct Case {
    std::string text;
    uint64_t steps;
  };
  const Case cases[] = {
      {"def @main() { 1 }", 1},
      {"def @f(%n: int32) -> int32 { if (%n == 0) { 0 } else { 1 + @f(%n - 1) } }\n"
       "def @main() { @f(9) }",
       11},
      {"def @f(%n: int32) -> int32 { if (%n == 0) { 0 } else { @f(%n - 1) } }\n"
       "def @main() { @f(9999) }",
       10001},
      {"def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } }\n"
       "def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } }\n"
       "def @main() { @even(20) }",
       22},
      {"def @main() { let %f = fn (%n: int32) -> int32 { if (%n == 0) { 0 } else { %f(%n - 1) } "
       "};\n"
       "  %f(5) + %f(6) }",
       14},
      // A constructor that is called as a value is a function; an operator with a name is none.
      {"def @apply[A, B](%f: fn (A) -> B, %x: A) -> B { %f(%x) }\n"
       "def @main() { let %g = negative; (@apply(Some, 3), %g(4), Some(3), negative(4)) }",
       3},
      {"def @each[A, B](%f: fn (A) -> B, %x: List[A]) -> List[B] {\n"
       "  match (%x) { Nil => Nil, Cons(%a, %t) => Cons(%f(%a), @each(%f, %t)) } }\n"
       "def @main() { @each(fn (%x: int32) -> int32 { %x + 1 }, Cons(1, Cons(2, Nil))) }",
       6},
  };
  for (const Case& each : cases) {
    Limited program(each.text);
    for (bool isOnMachine : {true, false}) {
      CAPTURE(each.text, isOnMachine);
      CHECK(!kindOf(program.run(isOnMachine, {.steps = each.steps})));
      for (uint64_t fewer : {each.steps - 1, each.steps / 2, uint64_t(0)})
        CHECK((kindOf(program.run(isOnMachine, {.steps = fewer})) == FaultKind::Steps));
    }
  }
}

TEST_CASE("an endless program ends in time", "[limits]") {
  const char* const texts[] = {
      "def @f(%n: int32) -> int32 { @f(%n + 1) }\ndef @main() { @f(1) }",
      "def @f(%g: fn (int32) -> int32, %n: int32) -> int32 { @f(%g, %g(%n)) }\n"
      "def @main() { @f(fn (%n: int32) -> int32 { %n }, 1) }",
      "def @f(%n: int32, %x: Tensor[(3), float32]) -> int32 { @f(%n + 1, %x + 1f) }\n"
      "def @main() { @f(1, [1f, 2f, 3f]) }",
  };
  for (const char* text : texts) {
    Limited program(text);
    for (bool isOnMachine : {true, false}) {
      CAPTURE(text, isOnMachine);
      Ending ending = program.run(isOnMachine, {.seconds = 0.02});
      REQUIRE((kindOf(ending) == FaultKind::Time));
      const auto& fault = std::get<runtime::RunFault>(ending);
      CHECK(fault.problem.plain() == "the run takes longer than 0.02 s");
      CHECK(fault.range.isValid());
    }
  }
}

TEST_CASE("a run gives back all that it was counted for", "[limits]") {
  const char* const texts[] = {
      "def @up(%n: int32, %t: List[int32]) -> List[int32] {\n"
      "  if (%n == 0) { %t } else { @up(%n - 1, Cons(%n, %t)) } }\n"
      "def @main() { @length(@up(100000, Nil)) }",
      "def @up(%n: int32, %t: List[Tensor[(100), float32]]) -> int32 {\n"
      "  if (%n == 0) { @length(%t) }\n"
      "  else { @up(%n - 1, Cons(zeros(shape=[100], dtype=\"float32\"), %t)) } }\n"
      "def @main() { @up(1000, Nil) }",
  };
  for (const char* text : texts) {
    Limited program(text);
    for (bool isOnMachine : {true, false}) {
      CAPTURE(text, isOnMachine);
      CHECK(!kindOf(program.run(isOnMachine, {.memory = 100'000'000})));
      // Each of these leaves the counts as they were, or the last one would fail.
      for (int64_t bytes : {1, 1'000, 100'000, 300'000})
        CHECK((kindOf(program.run(isOnMachine, {.memory = bytes})) == FaultKind::Memory));
      CHECK(!kindOf(program.run(isOnMachine, {.memory = 100'000'000})));
    }
  }
}

TEST_CASE("limits of memory nest, and are for a thread", "[limits]") {
  runtime::MemoryLimit outer(1000);
  {
    runtime::MemoryLimit inner(5000);
    CHECK(!runtime::takeMemory(1001));
    CHECK((runtime::reachedMemoryLimit() == 5000));
    CHECK(!runtime::takeMemory(SIZE_MAX));
    runtime::HeldMemory held;
    CHECK(held.add(1000));
    CHECK(!held.add(1));
    held.remove(10);
    CHECK(held.add(10));
    std::thread([] {
      CHECK(runtime::takeMemory(5000));
      runtime::returnMemory(5000);
    }).join();
  }
  CHECK(!runtime::reachedMemoryLimit());
  CHECK(runtime::takeMemory(1000));
  runtime::returnMemory(1000);
}
