// Instructions that linking makes of several: each leaves what its parts leave, takes as many
// steps, and is made of some program.
#include "codegen/strips/compile/sized.h"
#include "driver/session/session.h"
#include "stdlib/ops.h"
#include "vm/bytecode/compile.h"
#include "vm/machine/execute.h"
#include "vm/machine/link.h"
#include "vm/machine/machine.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <numeric>
#include <random>

namespace {

using vm::Op;
using vm::Word;

/// A host whose machine runs every instruction by itself.
vm::Host watching(vm::Host host, const vm::Observer& observer) {
  host.observer = &observer;
  return host;
}
const vm::Observer watcher{[](uint32_t, bool) {}, [] {}, [](uint32_t) {}, [] {}};

struct Outcome {
  vm::Trap trap;
  uint64_t result;
  std::vector<uint32_t> open;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Linked code that has numbers where the loop has places.
std::vector<Word> linkedByNumber(const vm::Program& program) {
  std::vector<uint16_t> numbers(vm::loopPlaces().size());
  std::iota(numbers.begin(), numbers.end(), uint16_t(0));
  return vm::linkedCode(program, {numbers});
}

Outcome run(const vm::Program& program, std::span<const vm::Slot> arguments, vm::Host host) {
  host.makeKernel = strips::makeKernel;
  vm::Machine machine(program, std::move(host));
  vm::Slot result;
  vm::Trap trap = machine.run(program.entries[0], arguments, result);
  bool isDone = trap == vm::Trap::None;
  return {trap, isDone ? result.word : 0,
          isDone ? std::vector<uint32_t>() : machine.openCalls().places()};
}

/// Holds a run of linked code to one of each instruction by itself.
void compare(const vm::Program& program, std::span<const vm::Slot> arguments, vm::Host host = {}) {
  Outcome plain = run(program, arguments, watching(host, watcher));
  CHECK(run(program, arguments, host) == plain);
}

std::unique_ptr<bytecode::Compiled> compiled(driver::Session& session, const std::string& text) {
  auto read = session.loadText("test", "#[version = \"0.0.5\"]\n" + text);
  REQUIRE(read);
  for (const lang::Diagnostic& item : read->diagnostics.all())
    UNSCOPED_INFO(item.text.plain());
  REQUIRE(read->isGood());
  return bytecode::compile(*read->module, read->typing, session.operators(),
                           std::array{read->module->find("main")});
}

struct Chain {
  const char* name;
  Op ops[3];
  vm::Use uses[3];

  bool isTest() const { return uses[1] == vm::Use::Tested; }
};

constexpr Chain chains[] = {
#define CHAINED(name, first, second, useSecond, third, useThird, handler)                          \
  {#name,                                                                                          \
   {Op::first, Op::second, Op::third},                                                             \
   {vm::Use::Left, vm::Use::useSecond, vm::Use::useThird}},
#include "vm/machine/linked.def"
};

constexpr const char* pairNames[] = {
#define LINKED(call, first, handler) #call " " #first,
#include "vm/machine/linked.def"
};

constexpr uint16_t registers = 6;

/// A chain whose parts write to registers 3, 4 and 5, or what `to` says, and take from `other` what
/// they do not take from each other; it returns a register. A test compares with the number `other`
/// and goes on to return register 2 unless it holds.
vm::Program programOf(const Chain& chain, uint16_t to, uint16_t other, uint16_t returned) {
  vm::Program program;
  program.entries = {0};
  program.words.push_back(std::bit_cast<uint64_t>(0x1.8p1));
  std::vector<Word>& code = program.code;
  uint16_t before = 3;
  for (size_t i = 0; i < 3 && chain.ops[i] != Op::Stop; ++i) {
    uint16_t out = i == 0 ? before : i == 1 ? to : uint16_t(5);
    bool loads = chain.ops[i] == Op::LoadWord || chain.ops[i] == Op::LoadLong;
    if (loads)
      code.push_back({uint16_t(chain.ops[i]), out, 0, 0});
    else if (i == 0)
      code.push_back({uint16_t(chain.ops[i]), out, 1, 2});
    else if (chain.uses[i] == vm::Use::Tested)
      code.push_back({uint16_t(chain.ops[i]), before, other, 1});
    else
      code.push_back({uint16_t(chain.ops[i]), out, chain.uses[i] == vm::Use::Left ? before : other,
                      chain.uses[i] == vm::Use::Left ? other : before});
    before = out;
  }
  code.push_back({uint16_t(Op::Return), returned, 0, 0});
  if (chain.isTest())
    code.push_back({uint16_t(Op::Return), 2, 0, 0});
  vm::Rep word{vm::Hold::Scalar, runtime::Int64};
  program.functions.push_back({.name = "f",
                               .size = uint32_t(code.size()),
                               .registers = registers,
                               .parameters = std::vector<vm::Rep>(registers, word),
                               .result = word});
  return program;
}

} // namespace

TEST_CASE("chains of instructions leave what their parts leave", "[link]") {
  std::minstd_rand random(7);
  std::vector<vm::Slot> arguments(registers);
  for (vm::Slot& slot : arguments) {
    // A number in every type.
    auto number = [&] { return double(random() % 4096) / 64 - 20; };
    auto low = std::bit_cast<uint32_t>(float(number()));
    slot.word = (std::bit_cast<uint64_t>(number()) & ~uint64_t(UINT32_MAX)) | low;
  }
  for (const Chain& chain : chains)
    for (uint16_t to : {4, 3, 0})
      for (uint16_t other : {0, 3, 1})
        for (uint16_t returned = 0; returned < registers; ++returned) {
          INFO(chain.name << " to " << to << " with " << other << ", register " << returned);
          vm::Program program = programOf(chain, to, other, returned);
          CHECK(linkedByNumber(program)[0].op >= vm::opCount);
          compare(program, arguments);
          // The sum in a test is of register 1 and the number 2.
          for (int64_t away = chain.isTest() ? -1 : 2; away < 2; ++away) {
            std::vector<vm::Slot> near = arguments;
            near[1].i64 = int64_t(other) - 2 + away;
            compare(program, near);
          }
        }
}

namespace {

/// Functions that begin with a test of a number, called in all ways.
std::string testing(std::string_view comparison, std::string_view type, std::string_view leaf) {
  constexpr std::string_view text = R"(
def @g(%n: {1}) -> {1} {{ if (%n {0} 3{2}) {{ %n + 100{2} }} else {{ {3} }} }}
def @tail(%n: {1}) -> {1} {{ @g(%n * 7{2}) }}
def @tail_add(%n: {1}) -> {1} {{ @g(%n + 5{2}) }}
def @sum(%n: {1}, %s: {1}) -> {1} {{
  if (%n == 0{2}) {{ %s }}
  else {{ @sum(%n - 1{2}, %s * 3{2} + @g(%n * 7{2}) + @g(%n - 4{2}) + @tail(%n) + @tail_add(%n)) }} }}
def @main() {{ @sum(12{2}, 0{2}) + @sum(3{2}, 1{2}) + @g(-9{2}) }}
)";
  return fmt::format(fmt::runtime(text), comparison, type, type == "int64" ? "i64" : "", leaf);
}

std::vector<std::string> samples() {
  std::vector<std::string> texts;
  for (std::string_view type : {"int32", "int64"})
    for (std::string_view comparison : {"<", "<=", ">", ">=", "==", "!="})
      for (std::string_view leaf : {"%n", "%n - %n", "%n * %n"})
        texts.push_back(testing(comparison, type, leaf));
  for (std::string_view leaf : {"%x", "7", "%x + 1"}) {
    constexpr std::string_view trees = R"(
type T {{ Tip(int32), Two(T, T), Three(T, T, T) }}
type P {{ PTip(int32), PTwo(P, P) }}
type Q {{ QTip(int32), QThree(Q, Q, Q) }}
def @make(%d: int32) -> T {{ if (%d < 1) {{ Tip(%d + 5) }} else {{
  if (%d == 4) {{ Three(@make(%d - 1), @make(%d - 3), @make(%d - 2)) }}
  else {{ Two(@make(%d - 2), @make(%d - 1)) }} }} }}
def @makep(%d: int32) -> P {{ if (%d < 1) {{ PTip(%d + 5) }} else {{ PTwo(@makep(%d - 2), @makep(%d - 1)) }} }}
def @makeq(%d: int32) -> Q {{ if (%d < 1) {{ QTip(%d + 5) }} else {{
  QThree(@makeq(%d - 3), @makeq(%d - 2), @makeq(%d - 1)) }} }}
def @sum(%t: T) -> int32 {{ match (%t) {{ Tip(%x) => {0}, Two(%a, %b) => @sum(%a) * 3 + @sum(%b),
  Three(%a, %b, %c) => if (@sum(%b) > 9) {{ @sum(%c) - @sum(%a) }} else {{ @sum(%a) }} }} }}
def @sump(%t: P) -> int32 {{ match (%t) {{ PTip(%x) => {0}, PTwo(%a, %b) => @sump(%a) * 3 + @sump(%b) }} }}
def @sumq(%t: Q) -> int32 {{ match (%t) {{ QTip(%x) => {0},
  QThree(%a, %b, %c) => @sumq(%a) * 3 + @sumq(%b) - @sumq(%c) }} }}
def @lastp(%t: P) -> int32 {{ match (%t) {{ PTip(%x) => {0}, PTwo(%a, %b) => @lastp(%b) }} }}
def @left(%t: T) -> int32 {{ match (%t) {{ Tip(%x) => {0}, Two(%a, %b) => @left(%a), Three(%a, %b, %c) => @left(%c) }} }}
def @add(%l: List[int32], %s: int32) -> int32 {{ match (%l) {{ Cons(%x, %t) => @add(%t, %s * 3 + {0}), Nil => %s }} }}
def @digest(%s: int32, %l: List[int32]) -> int32 {{ match (%l) {{ Cons(%x, %t) => @digest(%s * 3 + {0}, %t), Nil => %s }} }}
def @reversed(%l: List[int32], %r: List[int32]) -> List[int32] {{ match (%l) {{ Nil => %r,
  Cons(%x, %t) => @reversed(%t, Cons({0}, %r)) }} }}
def @down(%n: int32) -> List[int32] {{ if (%n == 0) {{ Nil }} else {{ Cons(%n, @down(%n - 1)) }} }}
def @merge(%a: List[int32], %b: List[int32]) -> List[int32] {{ match (%a) {{ Nil => %b, Cons(%x, %s) =>
  match (%b) {{ Nil => %a, Cons(%y, %t) => if (%x <= %y) {{ Cons(%x, @merge(%s, %b)) }}
  else {{ Cons(%y, @merge(%a, %t)) }} }} }} }}
def @main() {{ let %t = @make(7); let %p = @makep(8); let %q = @makeq(6);
  @digest(@sum(%t) + 5 * @sump(%p) + 7 * @sumq(%q) + @left(%t) + @lastp(%p)
    + @add(@reversed(@down(9), Nil), 1), @merge(@down(4), @down(6))) }}
)";
    texts.push_back(fmt::format(fmt::runtime(trees), leaf));
  }
  return texts;
}

} // namespace

TEST_CASE("calls that begin the function end as others do", "[link]") {
  std::vector<uint8_t> isMade(std::size(pairNames));
  for (const std::string& text : samples()) {
    INFO(text);
    driver::Session session(stdlib::operatorTable());
    auto made = compiled(session, text);
    const vm::Program& program = made->program;
    for (const Word& word : linkedByNumber(program))
      if (word.op >= vm::opCount && word.op < vm::opCount + isMade.size())
        isMade[word.op - vm::opCount] = true;
    compare(program, {});
    for (uint64_t steps = 1; steps < 120; ++steps)
      compare(program, {}, {.maximumSteps = steps});
    for (size_t depth = 1; depth < 12; ++depth)
      CHECK((run(program, {}, {.maximumDepth = depth}).trap == vm::Trap::Depth ||
             run(program, {}, {.maximumDepth = depth}) == run(program, {}, {})));
  }
  for (size_t i = 0; i < isMade.size(); ++i) {
    INFO(pairNames[i]);
    CHECK(isMade[i]);
  }
}
