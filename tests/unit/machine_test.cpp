// The machine: what it computes, how deep it goes, what it keeps of memory, and how it ends a run.
#include "codegen/strips/compile/sized.h"
#include "driver/session/session.h"
#include "driver/values/text.h"
#include "interp/interpret.h"
#include "interp/reference.h"
#include "stdlib/ops.h"
#include "vm/bytecode/run.h"
#include "vm/machine/machine.h"

#include <catch2/catch.hpp>

namespace {

/// A program, compiled, on a machine without a host.
struct Loaded {
  explicit Loaded(const std::string& text, vm::Host host = {}) {
    auto read = session.loadText("test", "#[version = \"0.0.5\"]\n" + text);
    REQUIRE(read);
    for (const lang::Diagnostic& item : read->diagnostics.all())
      UNSCOPED_INFO(item.text.plain());
    REQUIRE(read->isGood());
    program.emplace(std::move(*read));
    compiled = bytecode::compile(*program->module, program->typing, session.operators(),
                                 std::array{program->module->find("main")});
    host.makeKernel = strips::makeKernel;
    machine.emplace(compiled->program, std::move(host));
  }

  /// The int32 that `@main` returns.
  int32_t number() {
    vm::Slot result;
    REQUIRE(machine->run(compiled->program.entries[0], {}, result) == vm::Trap::None);
    return result.i32;
  }

  driver::Session session{stdlib::operatorTable()};
  std::optional<driver::Program> program;
  std::unique_ptr<bytecode::Compiled> compiled;
  std::optional<vm::Machine> machine;
};

/// The reference as one that does not make kernels.
tensor::TensorEngine withoutKernels() {
  return {.makeExact = [](tensor::TensorFunction function) -> tensor::ExactCode {
    auto kernel = std::make_shared<tensor::OwnedKernel>(std::move(function),
                                                        interp::referenceEngine().makeKernel);
    return {[kernel](auto inputs, auto& outputs) { return kernel->run(inputs, outputs); }};
  }};
}

/// The value of `@main`, or its fault, on the machine and in the interpreter, which agree; and so
/// does the machine where nobody makes kernels.
std::string valueOf(const std::string& text) {
  Loaded loaded(text);
  const lang::Global& entry = *loaded.program->module->find("main");
  auto textOf = [&](const std::variant<runtime::Value, runtime::RunFault>& result) {
    if (const auto* fault = std::get_if<runtime::RunFault>(&result))
      return "fault: " + fault->problem.plain();
    return driver::valueText(std::get<runtime::Value>(result), loaded.session.types(),
                             loaded.program->typing);
  };
  auto onMachine = [&](const tensor::TensorEngine& engine) {
    return textOf(bytecode::run(*loaded.program->module, loaded.program->typing,
                                loaded.session.operators(), entry, {}, {.engine = engine}));
  };
  std::string value = onMachine(strips::stripsEngine());
  CHECK(value == onMachine(interp::referenceEngine()));
  CHECK(value == onMachine(withoutKernels()));
  CHECK(value == textOf(interp::interpret(*loaded.program->module, loaded.program->typing,
                                          loaded.session.operators(), entry, {},
                                          {.engine = strips::stripsEngine()})));
  return value;
}

const std::string lists = R"(
def @build(%i: int32, %l: List[int32]) -> List[int32] {
  if (%i == 0) { %l } else { @build(%i - 1, Cons(%i, %l)) }
}
def @double(%l: List[int32]) -> List[int32] {
  match (%l) { Cons(%x, %t) => Cons(2 * %x, @double(%t)), Nil => Nil }
}
def @sum(%a: int32, %l: List[int32]) -> int32 {
  match (%l) { Cons(%x, %t) => @sum(%a + %x, %t), Nil => %a }
}
)";

} // namespace

TEST_CASE("scalars of every kind are computed in registers", "[machine]") {
  CHECK(valueOf("def @main() { (1 + 2, 7i64 * 6i64, 1f / 3f, sqrt(2f64), 3f16 * 0.5f16) }") ==
        "(3, 42i64, 0.33333334f, 1.4142135623730951f64, 1.5f16)");
  CHECK(valueOf("def @main() { (cast(200, dtype=\"uint8\") + cast(100, dtype=\"uint8\"), "
                "cast(3.7f, dtype=\"int32\"), exp(1f)) }") ==
        "(cast(44, dtype=\"uint8\"), 3, 2.7182817f)");
  CHECK(valueOf("def @main() { (floor_mod(-7, 3), where(True, 1, 2), isnan(0f / 0f)) }") ==
        "(2, 1, True)");
  CHECK(valueOf("def @f(%n: int32) { if (%n < 2) { %n } else { @f(%n - 1) + @f(%n - 2) } }\n"
                "def @main() { @f(20) }") == "6765");
  CHECK(valueOf("def @f(%a: float32, %b: float32) { if (%a >= %b) { 1 } else { 2 } }\n"
                "def @main() { let %nan = 0f / 0f; (@f(%nan, 1f), @f(1f, %nan), @f(1f, 1f)) }") ==
        "(2, 2, 1)");
  CHECK(valueOf("def @f(%n: int32) { floor_divide(6, %n) }\ndef @main() { @f(0) }") ==
        "fault: integer division by zero");
}

TEST_CASE("generic functions are values of any representation", "[machine]") {
  CHECK(valueOf("def @ap(%g: fn[A](A) -> A) { (%g(1), %g(2f), %g((1, 2))) }\n"
                "def @main() { let %id = fn[A](%x: A) -> A { %x }; @ap(%id) }") ==
        "(1, 2f, (1, 2))");
  CHECK(valueOf("def @id(%x) { %x }\n"
                "def @main() { (@map(@id, Cons(1, Nil)), @map(@id, Cons([2f], Nil))) }") ==
        "(Cons(1, Nil), Cons([2f], Nil))");
  CHECK(valueOf("def @two(%f: fn[A](A) -> Option[A]) { (%f(1), %f([2f])) }\n"
                "def @main() { let %c = Some; (@two(%c), @map(Some, Cons(1, Nil)), %c) }") ==
        "((Some(1), Some([2f])), Cons(Some(1), Nil), <constructor Some>)");
  CHECK(valueOf("type Nest[A] { N(A, Nest[(A, A)]), E }\n"
                "def @d[A](%x: Nest[A], %f: fn(A) -> int32) -> int32 {\n"
                "  match (%x) { N(%a, %r) => %f(%a) + @d(%r, fn(%p: (A, A)) { %f(%p.0) + "
                "%f(%p.1) }), E => 0 }\n"
                "}\n"
                "def @main() { @d(N(1, N((2, 3), N(((4, 5), (6, 7)), E))), fn(%x: int32) { %x }) "
                "}") == "28");
}

TEST_CASE("matches try their arms in order, also inside", "[machine]") {
  std::string take = "def @f(%l: List[(int32, float32)]) { match? (%l) {\n"
                     "  Cons((_, %x), Nil) => %x, Cons((%n, _), Cons(_, Nil)) => cast(%n, "
                     "dtype=\"float32\"), Nil => 9f } }\n";
  CHECK(valueOf(take + "def @main() { (@f(Nil), @f(Cons((1, 2f), Nil)), "
                       "@f(Cons((3, 4f), Cons((5, 6f), Nil)))) }") == "(9f, 2f, 3f)");
  CHECK(valueOf(take + "def @main() { let %c = (1, 2f); @f(Cons(%c, Cons(%c, Cons(%c, Nil)))) }") ==
        "fault: no arm of this match is for `Cons`");
}

TEST_CASE("a million calls may be open, and structures be as deep", "[machine]") {
  Loaded deep("def @f(%n: int32) -> int32 { if (%n == 0) { 0 } else { 1 + @f(%n - 1) } }\n"
              "def @main() { @f(1000000) }");
  CHECK(deep.number() == 1'000'000);
  Loaded list(lists + "def @main() { @sum(0, @double(@build(1000000, Nil))) - @sum(0, "
                      "@build(1000000, Nil)) }");
  CHECK(list.number() == 1784293664);
}

TEST_CASE("a cell of a list of ints takes at most 32 bytes, and is used again", "[machine]") {
  constexpr size_t cells = 100'000, chunk = 1 << 16;
  Loaded built(lists + "def @main() { @sum(0, @build(100000, Nil)) }");
  built.number();
  CHECK(built.machine->heap().bytes() <= 32 * cells + chunk);
  Loaded doubled(lists + "def @main() { @sum(0, @double(@double(@build(100000, Nil)))) }");
  doubled.number();
  CHECK(doubled.machine->heap().bytes() <= built.machine->heap().bytes());
}

TEST_CASE("a run that ended holds nothing", "[machine]") {
  for (const std::string& text :
       {lists + "def @main() { @sum(0, @double(@build(5000, Nil))) }",
        std::string("type T { Leaf, Node(T, int32, T) }\n"
                    "def @insert(%k: int32, %t: T) -> T { match (%t) { Leaf => Node(Leaf, %k, "
                    "Leaf), Node(%l, %x, %r) => if (%k < %x) { Node(@insert(%k, %l), %x, %r) } "
                    "else { if (%x < %k) { Node(%l, %x, @insert(%k, %r)) } else { %t } } } }\n"
                    "def @go(%n: int32, %t: T) -> T { if (%n == 0) { %t } else { @go(%n - 1, "
                    "@insert(floor_mod(%n * 7919, 1009), %t)) } }\n"
                    "def @size(%t: T) -> int32 { match (%t) { Leaf => 0, Node(%l, _, %r) => 1 + "
                    "@size(%l) + @size(%r) } }\n"
                    "def @main() { @size(@go(3000, Leaf)) }"),
        std::string("def @comp(%n: int32, %f: fn(int32) -> int32) -> fn(int32) -> int32 { if (%n "
                    "== 0) { %f } else { @comp(%n - 1, fn(%x: int32) { %f(%x + 1) }) } }\n"
                    "def @main() { let %f = @comp(5000, fn(%x: int32) { %x }); %f(0) + %f(1) }"),
        std::string("def @fill(%n: int32, %r: ref(List[int32])) -> () { if (%n == 0) { () } else { "
                    "let %u = ref_write(%r, Cons(%n, ref_read(%r))); @fill(%n - 1, %r) } }\n"
                    "def @main() { let %r = ref(Nil); let %u = @fill(5000, %r); "
                    "@length(ref_read(%r)) }\n"
                    "def @length(%l: List[int32]) -> int32 { match (%l) { Cons(_, %t) => 1 + "
                    "@length(%t), Nil => 0 } }")}) {
    INFO(text);
    Loaded loaded(text);
    int32_t first = loaded.number();
    size_t bytes = loaded.machine->heap().bytes();
    for (int i = 0; i < 5; ++i)
      CHECK(loaded.number() == first);
    CHECK(loaded.machine->heap().bytes() == bytes);
  }
}

TEST_CASE("arguments of tail calls come into their places at once", "[machine]") {
  std::string lists =
      "def @ring(%n: int32, %a: List[int32], %b: List[int32], %c: List[int32]) -> "
      "(List[int32], List[int32], List[int32]) { if (%n == 0) { (%a, %b, %c) } "
      "else { @ring(%n - 1, %b, %c, %a) } }\n"
      "def @again(%n: int32, %a: List[int32], %b: List[int32]) -> (List[int32], "
      "List[int32]) { if (%n == 0) { (%a, %b) } else { @again(%n - 1, %b, %b) } }\n";
  CHECK(valueOf(lists + "def @main() { (@ring(4, Cons(1, Nil), Cons(2, Nil), Nil), @again(2, "
                        "Cons(1, Nil), Cons(2, Nil))) }") ==
        "((Cons(2, Nil), Nil, Cons(1, Nil)), (Cons(2, Nil), Cons(2, Nil)))");
  CHECK(valueOf("def @f(%n: int32, %a: int32, %b: int64, %c: int32) -> (int32, int64, int32) { "
                "if (%n == 0) { (%a, %b, %c) } else { @f(%n - 1, %c, %b + 1i64, %a) } }\n"
                "def @main() { @f(3, 1, 2i64, 4) }") == "(4, 5i64, 1)");
  // An object and a field of it are given away by one call.
  CHECK(valueOf("type T { Leaf, Node(T, int32) }\n"
                "def @keep(%t: T, %l: T) -> T { match (%t) { Leaf => %l, Node(_, %n) => "
                "Node(Node(%l, %n), 0) } }\n"
                "def @go(%t: T) -> T { match (%t) { Leaf => %t, Node(%l, _) => @keep(%t, %l) } }\n"
                "def @main() { @go(Node(Leaf, 7)) }") == "Node(Node(Leaf, 7), 0)");
}

TEST_CASE("division by a number in the text follows the rows", "[machine]") {
  CHECK(
      valueOf("def @f(%x: int32) { (floor_divide(%x, 7), floor_mod(%x, -3), trunc_divide(%x, -1), "
              "trunc_mod(%x, 5)) }\n"
              "def @main() { (@f(-17), @f(-2147483647 - 1)) }") ==
      "((-3, -2, 17, -2), (-306783379, -2, -2147483648, -3))");
  CHECK(valueOf("def @f(%x: int32) { floor_mod(%x, 0) }\ndef @main() { @f(1) }") ==
        "fault: integer division by zero");
}

TEST_CASE("a tuple that is only projected shares nothing with its fields", "[machine]") {
  CHECK(valueOf("def @pair(%l: List[int32]) -> (List[int32], List[int32]) { (%l, Cons(9, %l)) }\n"
                "def @main() { let %p = @pair(Cons(1, Nil)); let %q = @pair(%p.1); (%p.0, %q.0, "
                "%q.1) }") ==
        "(Cons(1, Nil), Cons(9, Cons(1, Nil)), Cons(9, Cons(9, Cons(1, Nil))))");
}

TEST_CASE("a limit on depth and an interrupt end a run in order", "[machine]") {
  vm::Slot result;
  Loaded deep("def @f(%n: int32) -> int32 { 1 + @f(%n) }\ndef @main() { @f(1) }",
              {.maximumDepth = 10'000});
  CHECK(deep.machine->run(deep.compiled->program.entries[0], {}, result) == vm::Trap::Depth);
  CHECK(deep.machine->openCalls().places().size() == 13);
  uint64_t calls = 0;
  Loaded endless("def @f(%n: int32) -> int32 { @f(%n + 1) }\ndef @main() { @f(1) }",
                 {.isInterrupted = [&](uint64_t more) { return (calls += more) > 100'000; }});
  CHECK(endless.machine->run(endless.compiled->program.entries[0], {}, result) ==
        vm::Trap::Interrupted);
  CHECK(endless.machine->depth() <= 2);
}

TEST_CASE("a call of itself inside of a new object takes no room", "[machine]") {
  const std::string chain =
      "def @upto(%i: int32, %n: int32) -> List[int32] { if (%i == %n) { Nil } else { "
      "Cons(%i, @upto(%i + 1, %n)) } }\n"
      "def @sum(%a: int32, %l: List[int32]) -> int32 { match (%l) { Cons(%x, %t) => "
      "@sum(bitwise_and(%a + %x, 65535), %t), Nil => %a } }\n"
      "def @main() { @sum(0, @upto(0, 300000)) }";
  Loaded loaded(chain, {.maximumDepth = 300});
  CHECK(loaded.number() == int32_t(299999LL * 300000 / 2 % 65536));
}

TEST_CASE("a wrapped call is as deep as any other", "[machine]") {
  // Every other call of @map is one around which an object is made, and is open within a call.
  const std::string tree =
      "type T { E, B(T, int32, T) }\n"
      "def @zigzag(%n: int32, %t: T) -> T { if (%n == 0) { %t } else { "
      "@zigzag(%n - 1, B(E, 0, B(%t, %n, E))) } }\n"
      "def @map(%t: T) -> T { match (%t) { E => E, B(%l, %v, %r) => B(@map(%l), %v + 1, @map(%r)) "
      "} }\n"
      "def @top(%t: T) -> int32 { match (%t) { E => 0, B(_, %v, _) => %v } }\n"
      "def @main() { @top(@map(@zigzag(1000, E))) }";
  CHECK(Loaded(tree, {.maximumDepth = 2010}).number() == 1);
  Loaded shallow(tree, {.maximumDepth = 900});
  vm::Slot result;
  CHECK(shallow.machine->run(shallow.compiled->program.entries[0], {}, result) == vm::Trap::Depth);
}

TEST_CASE("machines and their results count no values of the program", "[machine]") {
  // Several threads have a machine each for one program, and may hand on what they get.
  Loaded constant("type Two { Two(Tensor[(2), float32], Tensor[(2), float32]) }\n"
                  "def @main() { let %x = [1f, 2f]; Two(%x, %x) }",
                  {.call = [](uint32_t, std::span<const vm::Slot>, vm::Slot&) { return true; }});
  const vm::Program& program = constant.compiled->program;
  REQUIRE(!program.statics.empty());
  bool hasTensor = false;
  for (uint32_t i = 0; i < program.statics.size(); ++i)
    if (program.statics[i].value.isSet()) {
      hasTensor = true;
      CHECK(!vm::boxed(*constant.machine->staticObject(i)).isShared());
    }
  CHECK(hasTensor);
  vm::Slot slot;
  REQUIRE(constant.machine->run(program.entries[0], {}, slot) == vm::Trap::None);
  runtime::Value two =
      vm::toValue(program, program.functions[program.entries[0]].result, slot, true);
  CHECK(two.fields()[0].tensor().bytes() == two.fields()[1].tensor().bytes());
  two = runtime::Value(two.fields()[0]);
  CHECK(!two.isShared());
}

TEST_CASE("objects around a call of itself are as if made behind it", "[machine]") {
  // Several around one another, tuples, fields used more than once, in the call too, and what
  // other objects share.
  CHECK(valueOf("def @f(%n: int32, %l: List[int32]) -> List[(List[int32], int32)] { "
                "if (%n == 0) { Nil } else { "
                "Cons((%l, %n), Cons((%l, 0 - %n), @f(%n - 1, Cons(%n, %l)))) } }\n"
                "def @main() { @f(2, Nil) }") ==
        "Cons((Nil, 2), Cons((Nil, -2), Cons((Cons(2, Nil), 1), Cons((Cons(2, Nil), -1), Nil))))");
  CHECK(valueOf("type Snoc { Empty, Snoc(Snoc, (int32, List[int32])) }\n"
                "def @g(%l: List[int32]) -> Snoc { match (%l) { Nil => Empty, "
                "Cons(%x, %t) => Snoc(@g(%t), (%x, %l)) } }\n"
                "def @main() { let %l = Cons(1, Cons(2, Nil)); (@g(%l), %l) }") ==
        "(Snoc(Snoc(Empty, (2, Cons(2, Nil))), (1, Cons(1, Cons(2, Nil)))), "
        "Cons(1, Cons(2, Nil)))");
  CHECK(valueOf("def @pairs(%n: int32) -> (int32, List[int32]) { if (%n == 0) { (0, Nil) } else { "
                "let %p = @pairs(%n - 1); (%p.0 + 1, Cons(%n, %p.1)) } }\n"
                "def @wrap(%n: int32, %l: List[int32]) -> List[List[int32]] { if (%n == 0) { "
                "Cons(%l, Nil) } else { Cons(@pairs(%n).1, @wrap(%n - 1, %l)) } }\n"
                "def @main() { @wrap(2, Cons(7, Nil)) }") ==
        "Cons(Cons(2, Cons(1, Nil)), Cons(Cons(1, Nil), Cons(Cons(7, Nil), Nil)))");
  CHECK(
      valueOf("def @main() { let %k = 10; let %go: fn (int32, fn (int32) -> int32) -> List[int32] "
              "= fn (%n: int32, %f: fn (int32) -> int32) -> List[int32] { "
              "if (%n == 0) { Nil } else { Cons(%f(%n) + %k, %go(%n - 1, %f)) } }; "
              "%go(3, fn (%x: int32) -> int32 { %x * %k }) }") ==
      "Cons(40, Cons(30, Cons(20, Nil)))");
  CHECK(valueOf("type Nest[A] { End, More(A, Nest[(A, A)]) }\n"
                "def @deep[A](%n: int32, %a: A) -> Nest[A] { if (%n == 0) { End } else { "
                "More(%a, @deep(%n - 1, (%a, %a))) } }\n"
                "def @main() { @deep(2, 5) }") == "More(5, More((5, 5), End))");
}

TEST_CASE("writes before a wrapped call are seen by it and behind it", "[machine]") {
  CHECK(
      valueOf("def @count(%r: ref(int32), %n: int32) -> List[int32] { if (%n == 0) { Nil } else { "
              "let %_ = ref_write(%r, ref_read(%r) + %n); "
              "Cons(ref_read(%r), @count(%r, %n - 1)) } }\n"
              "def @main() { let %r = ref(0); let %l = @count(%r, 3); (%l, ref_read(%r)) }") ==
      "(Cons(3, Cons(5, Cons(6, Nil))), 6)");
}

TEST_CASE("a trace goes on where a wrapped call ended", "[machine]") {
  Loaded loaded("def @f(%n: int32) -> List[int32] { Cons(floor_divide(6, %n), @f(%n - 1)) }\n"
                "def @g(%n: int32) -> (int32, List[int32]) { let %l = @f(%n); match (%l) { "
                "Cons(%x, %t) => (%x, %t), Nil => (0, Nil) } }\n"
                "def @main() { @g(3).0 }");
  vm::Slot result;
  REQUIRE(loaded.machine->run(loaded.compiled->program.entries[0], {}, result) ==
          vm::Trap::DivisionByZero);
  CHECK(loaded.machine->openCalls().count() == 3);
}

TEST_CASE("fields of tuples come back in registers, or as a tuple where that is wanted",
          "[machine]") {
  const std::string division =
      "def @divide(%a: int32, %b: int32) -> (int32, int32) { if (%a < %b) { (0, %a) } else { "
      "let %r = @divide(%a - %b, %b); (%r.0 + 1, %r.1) } }\n";
  CHECK(valueOf(division + "def @main() { @divide(17, 5) }") == "(3, 2)");
  CHECK(valueOf(division + "def @main() { let %r = @divide(17, 5); (%r.1, (%r, %r.0)) }") ==
        "(2, ((3, 2), 3))");
  CHECK(valueOf(division + "def @main() { match (@divide(17, 5)) { (%q, _) => %q } }") == "3");
  CHECK(valueOf(division +
                "def @main() { @map(fn (%x: int32) -> (int32, int32) { @divide(%x, 5) }, "
                "Cons(17, Cons(3, Nil))) }") == "Cons((3, 2), Cons((0, 3), Nil))");
  CHECK(valueOf(division + "def @main() { let %f = @divide; (%f(9, 4), @divide(9, 2).0) }") ==
        "((2, 1), 4)");
  // The same reference twice, one that others hold, one that nobody wants, and a constant.
  CHECK(valueOf("def @three[A](%x: A, %l: List[A]) -> (List[A], List[A], List[A]) { "
                "(%l, Cons(%x, %l), %l) }\n"
                "def @main() { let %l = Cons(1, Nil); let %r = @three(2, %l); "
                "let %s = @three(2f, Nil); let %t = @three(7, %l); (%r.2, %s.1, %t) }") ==
        "(Cons(1, Nil), Cons(2f, Nil), (Cons(1, Nil), Cons(7, Cons(1, Nil)), Cons(1, Nil)))");
  CHECK(valueOf("def @swap(%n: int32, %a: List[int32], %b: List[int32]) -> "
                "(List[int32], List[int32]) { if (%n == 0) { (%b, %a) } else { "
                "@swap(%n - 1, Cons(%n, %b), %a) } }\n"
                "def @main() { let %r = @swap(3, Nil, Nil); (%r.0, %r.1) }") ==
        "(Cons(2, Nil), Cons(1, Cons(3, Nil)))");
}

TEST_CASE("tail calls stay tail calls where others give fields", "[machine]") {
  // The second function ends with what is no new tuple, so both give tuples.
  Loaded loaded("def @f(%n: int32, %p: (int32, int32)) -> (int32, int32) { if (%n == 0) { (1, 2) } "
                "else { @g(%n - 1, %p) } }\n"
                "def @g(%n: int32, %p: (int32, int32)) -> (int32, int32) { if (%n == 0) { %p } "
                "else { @f(%n - 1, %p) } }\n"
                "def @main() { let %r = @f(100001, (3, 4)); %r.0 * 10 + %r.1 }",
                {.maximumDepth = 300});
  CHECK(loaded.number() == 34);
}

TEST_CASE("what is lent to a call lives until it is done", "[machine]") {
  // The callee keeps one of its lists and only looks at the other, which are the same.
  CHECK(valueOf("def @sum(%l: List[int32]) -> int32 { match (%l) { Cons(%x, %t) => %x + @sum(%t), "
                "Nil => 0 } }\n"
                "def @both(%kept: List[int32], %seen: List[int32]) { let %pair = (%kept, 1); "
                "let %n = @sum(%seen); (@sum(%pair.0) + %n, @sum(%seen)) }\n"
                "def @main() { let %l = Cons(1, Cons(2, Nil)); @both(%l, %l) }") == "(6, 3)");
}

TEST_CASE("a large list that was sorted in place lies in memory in its order", "[machine]") {
  constexpr size_t length = 200'000, cell = 24, page = 1 << 14;
  Loaded loaded(
      "def @numbers(%n: int32, %x: int32, %l: List[int32]) -> List[int32] { if (%n == 0) { %l } "
      "else { let %k = bitwise_and(%x * 1103515245 + 12345, 2147483647); "
      "@numbers(%n - 1, %k, Cons(%k, %l)) } }\n"
      "def @split(%n: int32, %l: List[int32], %a: List[int32]) -> (List[int32], List[int32]) { "
      "if (%n == 0) { (%a, %l) } else { match (%l) { Nil => (%a, %l), "
      "Cons(%x, %t) => @split(%n - 1, %t, Cons(%x, %a)) } } }\n"
      "def @merge(%a: List[int32], %b: List[int32]) -> List[int32] { match (%a) { Nil => %b, "
      "Cons(%x, %s) => match (%b) { Nil => %a, Cons(%y, %t) => "
      "if (%x <= %y) { Cons(%x, @merge(%s, %b)) } else { Cons(%y, @merge(%a, %t)) } } } }\n"
      "def @sort(%n: int32, %l: List[int32]) -> List[int32] { if (%n < 2) { %l } else { "
      "let %half = floor_divide(%n, 2); let %parts = @split(%half, %l, Nil); "
      "@merge(@sort(%half, %parts.0), @sort(%n - %half, %parts.1)) } }\n"
      "def @main() { @sort(200000, @numbers(200000, 12345, Nil)) }");
  vm::Slot list;
  REQUIRE(loaded.machine->run(loaded.compiled->program.entries[0], {}, list) == vm::Trap::None);
  auto sizeOf = [&](const vm::Object* object) {
    return loaded.machine->heap().sizeOf(object->layout);
  };
  size_t cells = 0, near = 0;
  int32_t before = 0;
  bool isSorted = true;
  for (vm::Object* at = list.object; sizeOf(at) > 0; at = at->fields()[1].object) {
    ++cells;
    isSorted &= before <= at->fields()[0].i32;
    before = at->fields()[0].i32;
    near += reinterpret_cast<uintptr_t>(at) / page ==
            reinterpret_cast<uintptr_t>(at->fields()[1].object) / page;
  }
  CHECK(cells == length);
  CHECK(isSorted);
  CHECK(near > cells * 9 / 10);
  CHECK(loaded.machine->heap().bytes() < 2 * length * cell);
  loaded.machine->heap().release(list.object);
}

TEST_CASE("a heap in which lists move stays within bounds", "[machine]") {
  const std::string text =
      "def @down(%n: int32, %l: List[int32]) -> List[int32] { if (%n == 0) { %l } else { "
      "@down(%n - 1, Cons(%n, %l)) } }\n"
      "def @turn(%l: List[int32], %r: List[int32]) -> List[int32] { match (%l) { Nil => %r, "
      "Cons(%x, %t) => @turn(%t, Cons(%x, %r)) } }\n"
      "def @times(%k: int32, %l: List[int32]) -> List[int32] { if (%k == 0) { %l } else { "
      "@times(%k - 1, @turn(%l, Nil)) } }\n"
      "def @sum(%l: List[int32], %s: int32) -> int32 { match (%l) { Nil => %s, "
      "Cons(%x, %t) => @sum(%t, bitwise_and(%s + %x, 65535)) } }\n"
      "def @main() { let %a = @sum(@times(7, @down(300000, Nil)), 0); "
      "@sum(@times(6, @down(300000, Nil)), 0) + %a }";
  Loaded loaded(text);
  CHECK(loaded.number() == 2 * int32_t(300000LL * 300001 / 2 % 65536));
  CHECK(loaded.machine->heap().bytes() < 2 * 300000 * 24);
}
