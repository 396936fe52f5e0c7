// The language part in tables: program text against printed form, type, value or mistake. The rows
// follow Relay 0.19 where Baton follows it; every program that is accepted must also print to a
// text that reads back and prints the same.
#include "codegen/strips/compile/sized.h"
#include "driver/session/session.h"
#include "driver/values/text.h"
#include "interp/interpret.h"
#include "lang/print/print.h"
#include "lang/source/render.h"
#include "parser/metadata/metadata.h"
#include "stdlib/ops.h"
#include "typecheck/check.h"

#include <catch2/catch.hpp>

namespace {

using driver::Program;
using driver::Stage;

const std::string header = "#[version = \"0.0.5\"]\n";

struct Loaded {
  driver::Session session{stdlib::operatorTable()};
  Program program;

  explicit Loaded(const std::string& text, Stage stage = Stage::Checked) {
    auto loaded = session.loadText("test", text, stage);
    REQUIRE(loaded);
    program = std::move(*loaded);
  }

  std::string findings() const {
    std::string text;
    for (const lang::Diagnostic& item : program.diagnostics.all())
      text += std::string(lang::messageRow(item.message).code) + ": " + item.text.plain() + "\n";
    return text;
  }

  /// The printed text with its metadata section.
  std::string print(bool types) const {
    return parser::wholeText(lang::printModule(*program.module, session.operators(),
                                               {types ? &program.typing : nullptr}));
  }
};

std::string withoutHeader(std::string text) {
  return text.starts_with(header) ? text.substr(header.size()) : text;
}

/// The printed form of a text, which must be stable.
std::string printed(const std::string& text, bool types = false) {
  Stage stage = types ? Stage::Checked : Stage::Resolved;
  Loaded first(text, stage);
  INFO(first.findings());
  REQUIRE(first.program.isGood());
  std::string result = first.print(types);
  Loaded second(result, stage);
  INFO(result << second.findings());
  REQUIRE(second.program.isGood());
  CHECK(second.print(types) == result);
  return withoutHeader(result);
}

std::string module(const std::string& text) {
  return header + text;
}

/// The type of `@main`, or the findings.
std::string typeOfMain(const std::string& text) {
  Loaded loaded(text);
  if (!loaded.program.isGood())
    return loaded.findings();
  printed(text);
  printed(text, true);
  const lang::Function& main = *loaded.program.module->find("main")->function;
  return lang::typeText(lang::functionType(loaded.session.types(), main, loaded.program.typing));
}

/// What `@main` returns, or the findings, or the fault.
std::string valueOf(const std::string& text) {
  Loaded loaded(text);
  if (!loaded.program.isGood())
    return loaded.findings();
  auto value = interp::interpret(*loaded.program.module, loaded.program.typing,
                                 loaded.session.operators(), *loaded.program.module->find("main"),
                                 {}, {.engine = strips::stripsEngine()});
  if (auto* fault = std::get_if<interp::Fault>(&value))
    return "fault: " + fault->problem.plain();
  return driver::valueText(std::get<runtime::Value>(value), loaded.session.types(),
                           loaded.program.typing);
}

/// The errors of a text, each as its code and the text that it points at.
/// The findings of one severity: their codes and the text that each range covers.
std::string findings(const std::string& text, lang::Severity severity) {
  Loaded loaded(text);
  std::string result;
  for (const lang::Diagnostic& item : loaded.program.diagnostics.all()) {
    if (item.severity() != severity)
      continue;
    uint32_t base = loaded.program.source->base();
    result += (result.empty() ? "" : "; ") + std::string(lang::messageRow(item.message).code) +
              " at " + text.substr(item.range.begin - base, item.range.end - item.range.begin);
  }
  return result;
}

std::string mistakes(const std::string& text) {
  return findings(text, lang::Severity::Error);
}

struct Row {
  std::string text;
  std::string result;
};

} // namespace

TEST_CASE("expressions print as Relay prints them", "[language]") {
  const Row rows[] = {
      {"--5", "5"},
      {"9223372036854775807", "9223372036854775807i64"},
      {"1e10f", "1e+10f"},
      {"0.123456789f", "0.12345679f"},
      {"-0f", "-0f"},
      {"-inff", "-inff"},
      {"1 +2", "add(1, 2)"},
      {"1/2/3", "%0 = divide(1, 2);\ndivide(%0, 3)"},
      {"1 + 2 * 3 - 4 < 5 == 6 != 7",
       "%0 = multiply(2, 3);\n%1 = add(1, %0);\n%2 = subtract(%1, 4);\n%3 = less(%2, 5);\n"
       "%4 = equal(%3, 6);\nnot_equal(%4, 7)"},
      {"1 + 2 == 3 + 4 * 5 < 6",
       "%0 = multiply(4, 5);\n%1 = add(3, %0);\n%2 = add(1, 2);\n%3 = less(%1, 6);\n"
       "equal(%2, %3)"},
      {"1 <=-2", "less_equal(1, -2)"},
      {"(1, 2 3)", "(1, 2, 3)"},
      {"(1, 2 -3)", "(1, 2, -3)"},
      {"(1,)", "(1,)"},
      {"()", "()"},
      {"(1, 2).0", "%0 = (1, 2);\n%0.0"},
      {"let %t = (1, fn (%x) { %x }); %t.1(3)",
       "%0 = fn (%x) {\n  %x\n};\nlet %t = (1, %0);\n%1 = %t.1;\n%1(3)"},
      {"1; 2; 3", "let %v = 1;\nlet %v1 = 2;\n3"},
      {"%0 = 1; (%0) == 2", "equal(1, 2)"},
      {"let %x = (match (1) { %y => %y }); %x",
       "let %x = (match (1) {\n  %y => {\n    %y\n  },\n});\n%x"},
      {"match (1) { }", "match (1) {\n  \n}"},
      {"if (True) { 1 } else { 2 } + 3", "%0 = if (True) {\n  1\n} else {\n  2\n};\nadd(%0, 3)"},
      {"fn (%x) - > int32 { %x }", "fn (%x) -> int32 {\n  %x\n}"},
      {"%0 = (let %y = 2; add(%y, 1)); add(%0, %0)",
       "%0 = (\n  let %y = 2;\n  add(%y, 1)\n);\nadd(%0, %0)"},
      {"let %c = True; %0 = add(1, 2); if (%c) { multiply(%0, %0) } else { %0 }",
       "let %c = True;\nif (%c) {\n  %0 = add(1, 2);\n  multiply(%0, %0)\n} else {\n  %0\n}"},
      {"%0 = add(1, 2); fn (%y) { add(%y, %0) }", "fn (%y) {\n  %0 = add(1, 2);\n  add(%y, %0)\n}"},
      {"let %_ = 1; let %_a = 2; (%_, %_a)", "let %v_ = 1;\nlet %v_a = 2;\n(%v_, %v_a)"},
      {"let %a1 = 1; let %a = 2; let %a = 3; (%a1, %a)",
       "let %a1 = 1;\nlet %a = 2;\nlet %a2 = 3;\n(%a1, %a2)"},
      {"let %x: (int32) = 1; 2", "let %x: (int32,) = 1;\n2"},
      {"let %x: Tensor[(1,2,?), uint8] = 1; 2", "let %x: Tensor[(1, 2, ?), uint8] = 1;\n2"},
      {"let %x: (int32, _) = 1; 2", "let %x: (int32, _) = 1;\n2"},
      {"fn (%x, Primitive=1, Flag=True, l=[1, 2, \"a\"], n=None) { %x }",
       "fn (%x, Primitive=1, Flag=1, l=[1, 2, \"a\"], n=None) {\n  %x\n}"},
      {"fn (z=1, a.b=1) {1}", "fn (z=1, a.b=1) {\n  1\n}"},
      {"nn.softmax(1f, axis=1, axis=2)", "nn.softmax(1f, axis=2)"},
      {"nn.softmax(1f, axis=-1)", "nn.softmax(1f)"},
      {"free_var %x: int32; add(%x, 1)", "free_var %x: int32;\nadd(%x, 1)"},
      {"(fn (%x) { add(multiply(%x, %x), 1) })(multiply(2, 3))",
       "%1 = multiply(2, 3);\n%2 = fn (%x) {\n  %0 = multiply(%x, %x);\n  add(%0, 1)\n};\n%2(%1)"},
      {"let %v = let %x = 1; %x; %v", "let %v = (\n  let %x = 1;\n  %x\n);\n%v"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(printed(row.text) == row.result + "\n");
  }
}

TEST_CASE("checked programs print with the comments of Relay", "[language]") {
  const Row rows[] = {
      {"def @main() { let %i = fn [A](%x: A) -> A { %x }; (%i(1), %i(2f)) }",
       "def @main() -> (int32, float32) {\n"
       "  let %i: fn [A](A) -> A /* ty=fn [A](A) -> A */ = fn [A](%x: A /* ty=A */) -> A {\n"
       "    %x\n"
       "  } /* ty=fn [A](A) -> A */;\n"
       "  %0 = %i(1 /* ty=int32 */) /* ty=int32 */;\n"
       "  %1 = %i(2f /* ty=float32 */) /* ty=float32 */;\n"
       "  (%0, %1) /* ty=(int32, float32) */\n"
       "}\n"},
      {"def @f(%x: Tensor[(2, 3), float32]) -> Tensor[(?, 3), float32] { %x }",
       "def @f(%x: Tensor[(?, 3), float32] /* ty=Tensor[(?, 3), float32] */) -> "
       "Tensor[(?, 3), float32] {\n  %x\n}\n"},
      {"type nat { zero, succ(nat) } def @two() { succ(succ(zero)) }",
       "type nat {\n  zero,\n  succ(nat[]),\n}\n\ndef @two() -> nat[] {\n"
       "  %0 = zero /* ty=nat[] */;\n  %1 = succ(%0) /* ty=nat[] */;\n"
       "  succ(%1) /* ty=nat[] */\n}\n"},
      {"def @m() { let %r = ref(1); %0 = ref_read(%r); ref_write(%r, 5); %0 }",
       "def @m() -> int32 {\n  let %r: ref(int32) /* ty=ref(int32) */ = ref(1 /* ty=int32 */);\n"
       "  let %v: () /* ty=() */ = ref_write(%r, 5 /* ty=int32 */);\n  ref_read(%r)\n}\n"},
      {"def @f(%t: (int32, bool)) { match (%t) { (%a, _) => if (%t.1) { %a } else { 0 } } }",
       "def @f(%t: (int32, bool) /* ty=(int32, bool) */) -> int32 {\n  match (%t) {\n"
       "    (%a: int32 /* ty=int32 */, _) => {\n      %0 = %t.1 /* ty=bool */;\n"
       "      if (%0) {\n        %a\n      } else {\n        0 /* ty=int32 */\n      }\n"
       "    },\n  }\n}\n"},
      {"def @f(%x: int32) { %x } def @a(%x: int32) { @f(%x) }",
       "def @a(%x: int32 /* ty=int32 */) -> int32 {\n  @f(%x) /* ty=int32 */\n}\n\n"
       "def @f(%x: int32 /* ty=int32 */) -> int32 {\n  %x\n}\n"},
      {"extern type Foo def @g() -> int32 { 7 }",
       "type Foo {\n  \n}\n\ndef @g() -> int32 {\n  7 /* ty=int32 */\n}\n"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(printed(module(row.text), true) == row.result);
  }
}

TEST_CASE("a line stands before its uses", "[language]") {
  std::string text = "free_var %c: bool; %0 = add(1, 2); %1 = if (%c) { %0 * %0 } else { %0 }; "
                     "%2 = fn (%y) { %y + %0 }; (%1, %2(%0))";
  CHECK(printed(text) == "free_var %c: bool;\n"
                         "%2 = fn (%y) {\n  %1 = if (%c) {\n    %0 = add(1, 2);\n"
                         "    multiply(%0, %0)\n  } else {\n    %0\n  };\n  add(%y, %0)\n};\n"
                         "%3 = %2(%0);\n(%1, %3)\n");
}

TEST_CASE("types are inferred", "[language]") {
  const Row rows[] = {
      {"def @main(%x: float32) { let %f = nn.relu; %f(%x) }", "fn (float32) -> float32"},
      {"type U { A, B } def @main(%x) { match (%x) { A => 1, B => 2 } }", "fn (U[]) -> int32"},
      {"def @main(%n: int32) { if (%n == 0) { 0 } else { @main(%n - 1) } }", "fn (int32) -> int32"},
      {"def @f(%n: int32) { %n + 1 } def @main(%n: int32) { @f(%n) }", "fn (int32) -> int32"},
      {"def @main(%n: int32) { if (%n == 0) { 1f } else { @g(%n - 1) } } "
       "def @g(%n: int32) { @main(%n) }",
       "fn (int32) -> float32"},
      {"def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(?, 3), float32]) { %x + %y }",
       "fn (Tensor[(2, 3), float32], Tensor[(?, 3), float32]) -> Tensor[(2, 3), float32]"},
      {"def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(?, 3), float32], %c: bool) "
       "{ if (%c) { %x } else { %y } }",
       "fn (Tensor[(?, 3), float32], Tensor[(?, 3), float32], bool) -> Tensor[(?, 3), float32]"},
      {"def @main(%x: Tensor[(2, 3), float32]) { let %y: Tensor[(?, 3), float32] = %x; %y }",
       "fn (Tensor[(?, 3), float32]) -> Tensor[(?, 3), float32]"},
      {"def @g(%x: Tensor[(?, 3), float32]) -> Tensor[(?, 3), float32] { %x } "
       "def @main(%x: Tensor[(2, 3), float32]) { @g(%x) }",
       "fn (Tensor[(2, 3), float32]) -> Tensor[(?, 3), float32]"},
      {"def @g(%x: Tensor[(4, 3), float32]) { %x } "
       "def @main(%x: Tensor[(?, 3), float32]) { @g(%x) }",
       "fn (Tensor[(?, 3), float32]) -> Tensor[(4, 3), float32]"},
      {"def @main(%x: Tensor[(n, 3), float32], %y: Tensor[(n, 3), float32]) { %x + %y }",
       "fn (Tensor[(n, 3), float32], Tensor[(n, 3), float32]) -> Tensor[(n, 3), float32]"},
      {"def @main(%x: Tensor[(4i64, 3), float32]) { argmax(%x) }",
       "fn (Tensor[(4i64, 3i64), float32]) -> int64"},
      {"def @main() { let %i = @id; (%i(1), %i(2f)) }", "fn () -> (int32, float32)"},
      {"def @main() { @map(@id, Cons(1, Nil)) }", "fn () -> List[int32]"},
      {"def @main() { @map(Some, Cons(1, Nil)) }", "fn () -> List[Option[int32]]"},
      {"def @main() { let %f = fn () { @id }; %f()(3) }", "fn () -> int32"},
      {"def @main() { let %x: fn [A](A) -> A = @id; %x(3) }", "fn () -> int32"},
      {"def @main() { let %f = fn (%x) { %x.0 }; %f((1, 2)) }", "fn () -> int32"},
      {"def @main() { let %f = fn (%g) { %g(1) }; %f(fn (%x) { %x + 1 }) }", "fn () -> int32"},
      {"def @main() { let %x = ref(Nil); ref_write(%x, Cons(1, Nil)); ref_read(%x) }",
       "fn () -> List[int32]"},
      {"def @main(%x: (int32, _)) -> int32 { (%x, (1, 2)); %x.0 }", "fn ((int32, _)) -> int32"},
      {"def @main(%x: int, %y: uint, %z: float, %w: uint1) { (%x, %y, %z, %w) }",
       "fn (int32, uint32, float32, bool) -> (int32, uint32, float32, bool)"},
      {"def @main(%x: bfloat16, %y: Tensor[(), bfloat16]) { (%x, %y) }",
       "fn (bfloat16, bfloat16) -> (bfloat16, bfloat16)"},
      {"type A[A] { MkA(A) } def @main[f](%x: f) -> A[f] { MkA(%x) }", "fn [f](f) -> A[f]"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(typeOfMain(module(row.text)) == row.result);
  }
}

TEST_CASE("programs mean what they mean in Relay", "[language]") {
  const std::string counter = "def @main() { let %r = ref(0); let %f = fn () { "
                              "ref_write(%r, ref_read(%r) + 1); ref_read(%r) }; ";
  const Row rows[] = {
      {counter + "%0 = %f(); let %a = %f(); (%a, %0, %0) }", "(1, 2, 2)"},
      {counter + "%0 = %f(); let %b = %0; let %a = %f(); (%a, %0, %b) }", "(2, 1, 1)"},
      {counter + "%0 = %f(); let %g = fn () { %0 }; let %a = %f(); (%g(), %g(), %a) }",
       "(2, 3, 1)"},
      {counter + "%0 = %f(); let %g = fn () { %0 }; let %a = %f(); (%g(), %g(), %a, %0) }",
       "(1, 1, 2, 1)"},
      {counter + "%0 = %f(); %1 = if (True) { %0 + 10 } else { %0 }; let %c = %f(); (%1, %c) }",
       "(12, 1)"},
      {counter + "%0 = %f(); let %x = if (False) { %0 } else { 0 }; let %c = %f(); (%x, %c) }",
       "(0, 1)"},
      {"def @main() { let %c = ref(1); %0 = ref_write(%c, 5); ref_read(%c) }", "1"},
      {"def @main() { let %c = ref(1); %0 = ref_read(%c); ref_write(%c, 5); %0 }", "5"},
      {"def @main() { let %r = ref(0); %0 = (ref_write(%r, 1); ref_read(%r)); "
       "%1 = (ref_write(%r, 2); ref_read(%r)); (%1, %0, %1) }",
       "(2, 1, 2)"},
      {"def @main() { %0 = if (True) { %1 = add(1, 2); %1 * %1 } else { 0 }; add(%0, %1) }", "12"},
      {"def @main() { let %x = 1; let %x = %x + 1; %x }", "2"},
      {"def @f(%q: int32) -> int32 { %1 = fn (%x: int32) -> int32 { %x + 4 }; %1(%q) } "
       "def @main() { %1(1) + @f(10) }",
       "19"},
      {"def @f() { %1 = match (Cons(5, Nil)) { Cons(%h, Cons(%a, _)) => { let %z = %h + %a; "
       "(%z, fn (%k: int32) { %k + %h }) }, Cons(%h, _) => { (%h, fn (%k: int32) { %k + %h }) }, "
       "Nil => { (0, fn (%k: int32) { %k }) } }; %1.0 } "
       "def @main() { let %a = @f(); (%1.1(2), %a) }",
       "(7, 5)"},
      {"def @main() { let %y = 3; let %f = fn (%x: int32) { fn (%z: int32) { "
       "%x * 100 + %y * 10 + %z } }; let %y = 7; %f(1)(2) }",
       "132"},
      {"def @main() { let %f = (fn (%n: int32) -> int32 { if (%n == 0) { 0 } else { "
       "%n + %f(%n - 1) } }); %f(4) }",
       "10"},
      {"def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } } "
       "def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } } "
       "def @main() { @even(100001) }",
       "False"},
      {"def @main() { match ((1, 2)) { (%a, %b) => { let %a = 5; (%a, %b) } } }", "(5, 2)"},
      {"def @main() { match (Some(Cons(1, Nil))) { Some(Cons(%x, Nil)) => %x, "
       "Some(Cons(_, Cons(%y, _))) => %y, Some(Nil) => 0, None => 0 } }",
       "1"},
      {"def @main() { let %a = ref((1, 2.5f)); let %b = %a; ref_write(%b, (3, 4f)); "
       "ref_read(%a).1 }",
       "4f"},
      {"def @main() { split([1, 2, 3, 4], indices_or_sections=2).1 }",
       "[3, 4] /* ty=Tensor[(2), int32] */"},
      {"def @g(%x: Tensor[(?), int32]) { %x + %x } def @main() { @g([1, 2]) }",
       "[2, 4] /* ty=Tensor[(2), int32] */"},
      {"def @f(%x: int32) { 1 } def @f(%x: int32) { 2 } def @main() { @f(0) }", "2"},
      {"def @main() { match? (Cons(1, Nil)) { Nil => 3 } }",
       "fault: no arm of this match is for `Cons`"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(valueOf(module(row.text)) == row.result);
    CHECK_FALSE(printed(module(row.text)).empty());
  }
}

TEST_CASE("every function of the prelude", "Cons(language, Nil)") {
  const std::string list = "Cons(1, Cons(2, Cons(3, Nil)))";
  const std::string two = "succ(succ(zero))";
  const std::string minus = "fn (%a: int32, %b: int32) -> int32 { %a * 10 - %b }";
  const std::string step = "fn (%s: int32, %x: int32) { (%s + %x, %s * 10 + %x) }";
  const std::string seed = "fn (%s: int32) { if (%s == 3) { None } else { Some((%s + 1, %s)) } }";
  const std::string twice = "fn (%x: int32) { %x * 2 }";
  const std::string digits = "fn (%i: int32, %s: int32) { %s * 10 + %i }";
  const std::string tree = "Rose(1, Cons(Rose(2, Nil), Cons(Rose(3, Nil), Nil)))";
  const Row rows[] = {
      {"@id(4)", "4"},
      {"@compose(" + twice + ", fn (%x: int32) { %x + 1 })(4)", "10"},
      {"@flip(" + minus + ")(1, 2)", "19"},
      {"@hd(" + list + ")", "1"},
      {"@tl(" + list + ")", "Cons(2, Cons(3, Nil))"},
      {"@nth(" + list + ", 2)", "3"},
      {"@length(" + list + ")", "3"},
      {"@update(" + list + ", 1, 7)", "Cons(1, Cons(7, Cons(3, Nil)))"},
      {"@map(" + twice + ", " + list + ")", "Cons(2, Cons(4, Cons(6, Nil)))"},
      {"@foldl(" + minus + ", 5, " + list + ")", "4877"},
      {"@foldr(" + minus + ", 5, " + list + ")", "15"},
      {"@foldr1(" + minus + ", " + list + ")", "-7"},
      {"@sum(" + list + ")", "6"},
      {"@concat(" + list + ", " + list + ")",
       "Cons(1, Cons(2, Cons(3, Cons(1, Cons(2, Cons(3, Nil))))))"},
      {"@filter(fn (%x: int32) { %x > 1 }, " + list + ")", "Cons(2, Cons(3, Nil))"},
      {"@zip(" + list + ", Cons(4f, Nil))", "Cons((1, 4f), Nil)"},
      {"@rev(" + list + ")", "Cons(3, Cons(2, Cons(1, Nil)))"},
      {"@map_accumr(" + step + ", 0, " + list + ")", "(6, Cons(51, Cons(32, Cons(3, Nil))))"},
      {"@map_accuml(" + step + ", 0, " + list + ")", "(6, Cons(33, Cons(12, Cons(1, Nil))))"},
      {"@unfoldr(" + seed + ", 0)", "Cons(0, Cons(1, Cons(2, Nil)))"},
      {"@unfoldl(" + seed + ", 0)", "Cons(2, Cons(1, Cons(0, Nil)))"},
      {"@size(@tmap(" + twice + ", " + tree + "))", "3"},
      {"match (@tmap(" + twice + ", " + tree + ")) { Rose(%x, _) => %x }", "2"},
      {"@iterate(" + twice + ", 3)(1)", "8"},
      {"@iterate(" + twice + ", 0)(1)", "1"},
      {"@loop(2, 6, " + digits + ", 1)", "12345"},
      {"@loop(2, 2, " + digits + ", 1)", "1"},
      {"@checkpointed_loop(2, 7, " + digits + ", 1)", "123456"},
      {"@checkpointed_loop(2, 1, " + digits + ", 1)", "1"},
      {"@nat_double(" + two + ")", "succ(succ(succ(succ(zero))))"},
      {"@nat_add(" + two + ", succ(zero))", "succ(succ(succ(zero)))"},
      {"@nat_nth(" + list + ", " + two + ")", "3"},
      {"@nat_update(" + list + ", succ(zero), 7)", "Cons(7, Cons(3, Nil))"},
      {"@nat_iterate(" + twice + ", " + two + ")(1)", "4"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(valueOf(row.text) == row.result);
    CHECK(valueOf(module("def @main() { " + row.text + " }")) == row.result);
    CHECK_FALSE(printed(row.text, true).empty());
  }
}

TEST_CASE("mistakes are reported once, where they are", "[language]") {
  const Row rows[] = {
      {"def @main(%x: int32) { let %x = add(%x, 1); %x }", "repeated-local at %x"},
      {"def @main(%x: int32, %x: int64) { %x }", "repeated-local at %x"},
      {"def @f() { %0 = 5; %0 } def @g() { %0 = 7; %0 }", "repeated-graph-variable at %0 = 7;"},
      {"def @main() { %0 = add(%0, 1); %0 }", "unknown-graph-variable at %0"},
      {"def @main() { let %x = %x + 1; %x }", "unknown-local at %x"},
      {"def @main() { let %x = (let %q = 1; %q); %q }", "unknown-local at %q"},
      {"def @main() { %0 = add(fn (%a) { %1 = add(%a, 1); 2 }(3), 4); add(%0, %1) }",
       "escaping-local at %a"},
      {"def @main() { @undefined(1) }", "unknown-global at @undefined"},
      {"def @main() { nn.rellu(1f) }", "unknown-name at nn.rellu"},
      {"def @main(%x) { match (%x) { Conz(_) => 1 } }", "unknown-constructor at Conz"},
      {"def @main(%x: Foo) { %x }", "unknown-type at Foo"},
      {"def @main(%x: List) { %x }", "type-argument-count at List"},
      {"def @main[A](%x: A[int32]) { %x }", "type-argument-count at A[int32]"},
      {"def @main(%x: interval) { %x }", "unknown-dtype at interval"},
      {"def @main(%x: Tensor[(2, -3), int8]) { %x }", "negative-dimension at -3"},
      {"type X { A } type X { B }", "repeated-type at X"},
      {"type X { A } type Y { A }", "repeated-constructor at A"},
      {"extern type X { A }", "extern-with-constructors at A"},
      {"def @main() { free_var %x; 1 }", "free-variable-in-module at free_var %x;"},
      {"def @main() { meta[relay.Constant][0] }", "unknown-metadata at meta[relay.Constant][0]"},
      {"def @main(%x: int32) { add(%x) }", "argument-count at add(%x)"},
      {"def @main() { Cons(1) }", "argument-count at Cons(1)"},
      {"def @main(%x: int32) { add(%x, 1f) }", "operator-mismatch at add(%x, 1f)"},
      {"def @main(%x: int32) { %x(1) }", "not-callable at %x"},
      {"def @main(%x: int32) { if (%x) { 1 } else { 2 } }", "condition-not-bool at %x"},
      {"def @main(%x: bool) { if (%x) { 1 } else { let %z = 2f; (%z, 1) } }",
       "branch-mismatch at (%z, 1)"},
      {"def @main(%x: int32) -> float32 { let %y = %x; %y }", "result-mismatch at %y"},
      {"def @main(%x: int32) { let %y: float32 = %x; %y }", "let-mismatch at %x"},
      {"def @main() { let %y: float32 = (1, 2); %y }", "let-mismatch at (1, 2)"},
      {"def @main(%x: int32) { (%x, 1).2 }", "field-out-of-range at (%x, 1).2"},
      {"def @main(%x: int32) { %x.0 }", "not-a-tuple at %x.0"},
      {"def @main(%x) { %x.0 }", "cannot-infer at %x"},
      {"def @main(%x) { add(%x, 1) }", "cannot-infer at %x"},
      {"def @main(%n: int32) { @main(%n) }", "cannot-infer at @main(%n)"},
      {"def @main[A](%y: A) { add(%y, %y) }", "unsolved-call at add(%y, %y)"},
      {"def @main(%x: int32) { ref_read(%x) }", "not-a-reference at %x"},
      {"def @main() { let %r = ref(1); ref_write(%r, 2f) }", "type-mismatch at 2f"},
      {"def @main(%x: List[int32]) { match (%x) { Cons(%a) => 1, Nil => 2 } }",
       "pattern-field-count at Cons(%a)"},
      {"def @main(%x: (int32, int32)) { match (%x) { (%a, %b, %c) => 1 } }",
       "pattern-mismatch at (%a, %b, %c)"},
      {"def @main(%x: List[int32]) { match (%x) { Cons(_, _) => 1 } }",
       "missing-case at match (%x) { Cons(_, _) => 1 }"},
      {"type E {} def @main(%x: E) -> int32 { match (%x) {} }", "missing-case at match (%x) {}"},
      {"def @main() { let %i = fn (%x) { %x }; (%i(1), %i(2f)) }", "argument-mismatch at 2f"},
      {"def @ap[A, B](%f: fn(A) -> B, %x: A) -> B { %f(%x) } "
       "def @main(%x: float32) { @ap(nn.relu, %x) }",
       "argument-mismatch at nn.relu"},
      {"def @main() { let %f = fn (%x) { %x(%x) }; 1 }", "infinite-type at %x"},
      {"def @f(%n: int32) { %n + 1 } def @main(%n: int32) -> float32 { @f(%n) }",
       "result-mismatch at @f(%n)"},
      {"def @main() { cast(1f) }", "missing-attribute at cast(1f)"},
      {"def @main() { nn.softmax(1f, axiss=1) }", "unknown-attribute at axiss"},
      {"def @main() { nn.softmax(1f, axis=\"s\") }", "attribute-mismatch at \"s\""},
      {"def @f(%x: int32) { %x } def @main() { @f(1, k=3) }", "unexpected-attributes at k"},
      {"def @main() { 1; }", "syntax-error at }"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(mistakes(module(row.text)) == row.result);
  }
}

TEST_CASE("what Relay does silently is warned of", "[language]") {
  const Row rows[] = {
      {"def @main(%n: int32) { (%n, %n -1) }", "suspicious-element at -1"},
      {"def @main(%n: int32) { @main(%n, %n -1) }", "suspicious-element at -1"},
      {"def @main(%n: int32) { (%n, -1) }", ""},
      {"def @main(%n: int32) { %0 = add(%n, 1); %n }", "unused-graph-variable at %0 = add(%n, 1);"},
      {"def @f() { 1 } def @f() { 2 }", "repeated-definition at @f"},
      {"def @main(%x: bool) { match (%x) { _ => 1, _ => 2 } }", "useless-arm at _"},
      {"def @main(%x: int32) { let %y = 1; let %x = %y; %x }", "shadowed-local at %x"},
      {"def @main(%x: int32) { let %f = fn (%x: int32) { %x }; %f(%x) }", ""},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(findings(module(row.text), lang::Severity::Warning) == row.result);
  }
}

TEST_CASE("texts without definitions and old headers", "[language]") {
  CHECK(valueOf("1 + 2") == "3");
  CHECK(typeOfMain("fn (%x: int32) { %x + 1 }") == "fn (int32) -> int32");
  CHECK(typeOfMain("v0.0.4\ndef @main(%x: int32) { %x }") == "fn (int32) -> int32");
  CHECK(typeOfMain("v0.0.4\nfn (%x: int32) { %x }") == "fn (int32) -> int32");
  CHECK(typeOfMain("free_var %x: Tensor[(2), float32]; nn.relu(%x)") ==
        "fn (Tensor[(2), float32]) -> Tensor[(2), float32]");
}

TEST_CASE("metadata sections", "[language]") {
  // One float32 tensor [1, 2], a boxed 2, a symbolic extent.
  const std::string section = R"(
#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
 {"type_key": "Map", "keys": ["relay.Constant", "runtime.BoxInt", "tir.Var"], "data": [2, 3, 4]},
 {"type_key": "Array", "data": [5]}, {"type_key": "Array", "data": [6]},
 {"type_key": "Array", "data": [7]},
 {"type_key": "relay.Constant", "attrs": {"data": "0", "virtual_device_": "0", "span": "0",
  "_checked_type_": "0"}},
 {"type_key": "runtime.BoxInt", "repr_str": "2"},
 {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "8", "type_annotation": "0",
  "span": "0"}}, {"type_key": "runtime.String", "repr_str": "batch"}],
 "b64ndarrays": ["P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQACAAAAAAAAAAgAAAAAAAAAAACAPwAAAEA="]})";
  CHECK(valueOf(module("def @main() { meta[relay.Constant][0] }" + section)) ==
        "[1f, 2f] /* ty=Tensor[(2), float32] */");
  CHECK(valueOf(module("def @main() { split(meta[relay.Constant][0], "
                       "indices_or_sections=meta[runtime.BoxInt][0]).1 }" +
                       section)) == "[2f] /* ty=Tensor[(1), float32] */");
  CHECK(typeOfMain(module("def @main(%x: Tensor[(meta[tir.Var][0], 2), float32]) { %x + %x }" +
                          section)) ==
        "fn (Tensor[(batch, 2), float32]) -> Tensor[(batch, 2), float32]");
  CHECK(mistakes(module("def @main() { meta[relay.Constant][1] }" + section)) ==
        "unknown-metadata at meta[relay.Constant][1]");
  CHECK(mistakes(module("def @main() { meta[runtime.BoxInt][0] }" + section)) ==
        "unusable-metadata at meta[runtime.BoxInt][0]");
}

namespace {

/// `count` pieces of text, made from their numbers.
template <typename Make>
std::string pieces(size_t count, Make make) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += make(i);
  return text;
}

std::string number(size_t i) {
  return std::to_string(i);
}

} // namespace

TEST_CASE("types that inference nests are bounded", "[language][size]") {
  auto let = [](const std::string& value) {
    return [value](size_t i) {
      std::string text = value;
      for (size_t at; (at = text.find('$')) != std::string::npos;)
        text.replace(at, 1, number(i));
      return "let %x" + number(i + 1) + " = " + text + "; ";
    };
  };
  std::string start = "def @main() { let %x0 = 1; ";
  CHECK(mistakes(module(start + pieces(60, let("(%x$, %x$)")) + "1 }"))
            .starts_with("type-too-large"));
  CHECK(mistakes(module(start + pieces(100000, let("(1, %x$)")) + "1 }")) ==
        "type-too-large at (1, %x4099)");
  CHECK(mistakes(module("def @two[A](%x: A) -> (A, A) { (%x, %x) } " + start +
                        pieces(60, let("@two(%x$)")) + "1 }"))
            .starts_with("type-too-large"));
  std::string closures = pieces(
      100000, [](size_t i) { return "%" + number(i + 1) + " = fn () { %" + number(i) + " }; "; });
  CHECK(mistakes(module("def @main() { %0 = fn () { 1 }; " + closures + "%100000 }"))
            .starts_with("nesting-too-deep"));
}

TEST_CASE("large programs take time by their length", "[language][size]") {
  auto isGood = [](const std::string& text) { return Loaded(module(text)).program.isGood(); };
  CHECK(isGood(pieces(10000,
                      [](size_t i) {
                        return "def @f" + number(i) + "(%x: int32) { @f" + number(i + 1) +
                               "(%x) }\n";
                      }) +
               "def @f10000(%x: int32) { %x }"));
  CHECK(isGood(pieces(1000, [](size_t i) {
    return "def @f" + number(i) + "(%x: int32) { if (%x == 0) { 0 } else { @f" +
           number((i + 1) % 1000) + "(%x - 1) } }\n";
  })));
  CHECK(isGood("type T { " + pieces(1000, [](size_t i) { return "C" + number(i) + ", "; }) +
               "} def @main(%t: T) { match (%t) { " +
               pieces(1000, [](size_t i) { return "C" + number(i) + " => 1, "; }) + "} }"));
  CHECK(isGood("def @main() { match ((" + pieces(20000, [](size_t) { return "1, "; }) + ")) { (" +
               pieces(20000, [](size_t) { return "_, "; }) + ") => 1 } }"));
  CHECK_FALSE(isGood("def @main(%x) { " +
                     pieces(5000,
                            [](size_t i) {
                              return "let %z" + number(i) + " = add(%x, 1); let %f" + number(i) +
                                     " = fn (%y: int32) { %y }; ";
                            }) +
                     "1 }"));
  CHECK_FALSE(isGood(
      "def @main() { " +
      pieces(20000,
             [](size_t i) { return "let %z" + number(i) + " = %undefined" + number(i) + "; "; }) +
      "1 }"));
}

TEST_CASE("a fault names the calls that led to it", "[language]") {
  std::string text = module("def @main() { @hd(Nil) + 1 }");
  Loaded loaded(text);
  auto value = interp::interpret(*loaded.program.module, loaded.program.typing,
                                 loaded.session.operators(), *loaded.program.module->find("main"),
                                 {}, {.engine = strips::stripsEngine()});
  const auto* fault = std::get_if<interp::Fault>(&value);
  REQUIRE(fault);
  REQUIRE(fault->calls.size() == 1);
  uint32_t base = loaded.program.source->base();
  CHECK(text.substr(fault->calls[0].begin - base, fault->calls[0].end - fault->calls[0].begin) ==
        "@hd(Nil)");
}
