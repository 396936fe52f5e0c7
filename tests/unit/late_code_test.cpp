// Machine code that takes over within a run: whenever that is, the run says what it says on the
// loop alone.
#include "checked_program.h"
#include "codegen/llvm/library.h"
#include "codegen/strips/compile/sized.h"
#include "driver/values/text.h"
#include "vm/bytecode/run.h"
#include "vm/native/runner.h"
#include "vm/native/stack.h"

namespace {

/// What a program ends with under a limit, in words: its value, or its fault with the calls.
class Ends {
public:
  explicit Ends(const std::string& text) {
    auto read = session_.loadText("test", "#[version = \"0.0.5\"]\n" + text);
    REQUIRE(read);
    REQUIRE(read->isGood());
    program_.emplace(std::move(*read));
  }

  std::string onLoop(runtime::RunLimits limits) { return ended(limits, 4096, {}); }

  /// Code takes over behind so many calls, which are counted by so many.
  std::string taken(runtime::RunLimits limits, uint64_t behind, uint64_t callsOfOneGo) {
    return ended(limits, callsOfOneGo, [=](const vm::Program& program) {
      static const auto compiler =
          std::make_shared<const vm::native::ControlCompiler>(std::nullopt);
      vm::Runner runner = vm::native::lateRunnerOf(compiler, program, {{behind}, {behind}, true});
      return runner;
    });
  }

private:
  std::string ended(runtime::RunLimits limits, uint64_t callsOfOneGo,
                    std::function<vm::Runner(const vm::Program&)> makeRunner) {
    bytecode::Options options{.engine = strips::stripsEngine()};
    options.run.limits = limits;
    options.run.callsOfOneGo = callsOfOneGo;
    options.makeRunner = std::move(makeRunner);
    auto result = bytecode::run(*program_->module, program_->typing, session_.operators(),
                                *program_->module->find("main"), {}, options);
    if (const auto* value = std::get_if<runtime::Value>(&result))
      return driver::valueText(*value, session_.types(), program_->typing);
    const auto& fault = std::get<runtime::RunFault>(result);
    std::string words =
        fault.problem.plain() + " at " + std::to_string(fault.range.begin) + " behind";
    for (const lang::SourceRange& call : fault.calls)
      words += " " + std::to_string(call.begin);
    return words + " of " + std::to_string(fault.openCalls);
  }

  driver::Session session_{stdlib::operatorTable()};
  std::optional<driver::Program> program_;
};

void demandSame(const std::string& text, runtime::RunLimits limits = {}) {
  Ends program(text);
  const std::string expected = program.onLoop(limits);
  for (uint64_t behind : {0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 500})
    for (uint64_t callsOfOneGo : {1, 2, 7}) {
      INFO(text << "\nbehind " << behind << " by " << callsOfOneGo);
      CHECK(program.taken(limits, behind, callsOfOneGo) == expected);
    }
}

bool canCompile() {
  return vm::native::Stack::isSupported() && bool(codegen::hostProcessor());
}

const std::string programs[] = {
    // Calls within calls, and one in its own place.
    "def @fib(%n: int32) -> int32 { if (%n < 2) { %n } else { @fib(%n - 1) + @fib(%n - 2) } }\n"
    "def @main() { @fib(11) }",
    "def @loop(%i: int32, %x: float64) -> float64 { if (%i == 0) { %x } else { "
    "@loop(%i - 1, %x * 1.01f64 + 1f64) } }\ndef @main() { (@loop(300, 0f64), @loop(20, 1f64)) }",
    // In another one's place, and closures.
    "def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } }\n"
    "def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } }\n"
    "def @main() { (@even(100), @odd(99)) }",
    "def @map(%f: fn (int32) -> int32, %l: List[int32]) -> List[int32] { match (%l) { "
    "Cons(%x, %t) => Cons(%f(%x), @map(%f, %t)), Nil => Nil } }\n"
    "def @upto(%n: int32) -> List[int32] { if (%n == 0) { Nil } else { Cons(%n, @upto(%n - 1)) } "
    "}\n"
    "def @main() { let %k = 3; @map(fn (%x: int32) -> int32 { %x * %k }, @upto(60)) }",
    // Results in registers, and around calls that ended.
    "def @pairs(%n: int32) -> (int32, List[int32]) { if (%n == 0) { (0, Nil) } else { "
    "let %p = @pairs(%n - 1); (%p.0 + 1, Cons(%n, %p.1)) } }\n"
    "def @wrap(%n: int32, %l: List[int32]) -> List[List[int32]] { if (%n == 0) { "
    "Cons(%l, Nil) } else { Cons(@pairs(%n).1, @wrap(%n - 1, %l)) } }\n"
    "def @main() { @wrap(12, Cons(7, Nil)) }",
    "type T { E, B(T, int32, T) }\n"
    "def @zigzag(%n: int32, %t: T) -> T { if (%n == 0) { %t } else { "
    "@zigzag(%n - 1, B(E, 0, B(%t, %n, E))) } }\n"
    "def @map(%t: T) -> T { match (%t) { E => E, B(%l, %v, %r) => B(@map(%l), %v + 1, @map(%r)) "
    "} }\n"
    "def @sum(%t: T) -> int32 { match (%t) { E => 0, B(%l, %v, %r) => @sum(%l) + %v + @sum(%r) } "
    "}\n"
    "def @main() { @sum(@map(@zigzag(40, E))) }",
    // Kernels and references.
    "def @step(%i: int32, %r: ref(Tensor[(3), float32])) -> () { if (%i == 0) { () } else { "
    "let %_ = ref_write(%r, tanh(ref_read(%r)) + [1f, 2f, 3f]); @step(%i - 1, %r) } }\n"
    "def @main() { let %r = ref([0f, 0f, 0f]); let %_ = @step(30, %r); ref_read(%r) }",
    // A fault far within.
    "def @f(%n: int32) -> int32 { 1 + floor_divide(100, %n) + @f(%n - 1) }\n"
    "def @g(%n: int32) -> int32 { if (%n == 0) { @f(40) } else { 2 * @g(%n - 1) } }\n"
    "def @main() { @g(30) }",
};

} // namespace

TEST_CASE("machine code takes over at any call", "[late_code]") {
  if (!canCompile())
    return;
  for (const std::string& text : programs)
    demandSame(text);
}

TEST_CASE("code that takes over counts calls as the loop does", "[late_code]") {
  if (!canCompile())
    return;
  for (const std::string& text : programs)
    for (uint64_t most : {1, 2, 3, 10, 31, 32, 33, 77}) {
      demandSame(text, {.steps = most});
      demandSame(text, {.depth = most});
    }
}
