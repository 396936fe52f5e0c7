// Derivatives of programs that nothing was simplified in: what a run differentiates has no closures
// and few matches left, so these go to the pass as they stand.
#include "interp/interpret.h"
#include "interp/reference.h"
#include "stdlib/ops.h"
#include "tests/harness/check_types.h"
#include "tests/harness/reader.h"
#include "transform/run_passes.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace {

using runtime::Value;

/// What the pass makes of a text; the reader must live as long.
runtime::Checked<transform::TypedModule> derived(harness::Reader& reader, const std::string& text) {
  harness::ReadText read = reader.read("#[version = \"0.0.5\"]\n" + text);
  INFO(reader.errorText(read));
  REQUIRE(read.isGood());
  const transform::PassRow* pass = transform::findPass("derivatives");
  return transform::runPasses(
      *read.module, read.typing, {&pass, 1},
      {.operators = stdlib::operatorTable(), .check = harness::checkTypes, .verify = true});
}

using Result = std::variant<Value, interp::Fault>;

/// What `@main`, which takes a float64, gives after the pass.
Result resultAt(const std::string& text, double x) {
  INFO(text);
  lang::TypeContext types;
  harness::Reader reader(types);
  auto made = derived(reader, text);
  if (!made)
    FAIL(made.failure().text);
  return interp::interpret(*made->module, made->typing, stdlib::operatorTable(),
                           *made->module->find("main"),
                           {runtime::tensorValue(runtime::Tensor::scalar(runtime::Float64, x))},
                           {.engine = interp::referenceEngine()});
}

/// The float64 that it gives.
double valueAt(const std::string& text, double x) {
  auto result = resultAt(text, x);
  if (auto* fault = std::get_if<interp::Fault>(&result))
    FAIL(fault->problem.plain());
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
    CHECK(
        refusal(f + "%keep(%x) * %x }" + main) ==
        "a derivative goes through `%keep`, which is generic, and the types it is used at are not "
        "known here");
  }
}

TEST_CASE("what gradients demand of type parameters is asked where these are known") {
  CHECK(refusal("def @main(%x: float64) { gradient_at(fn (%n: int32) { 1f }, 2) }") ==
        "`fn (int32) -> float32` has no gradient: its argument must hold floats, and no functions "
        "and no references");
  CHECK(refusal("def @main(%x: float64) { gradient_at(fn (%v: float64) { (%v, %v) }, %x) }") ==
        "`fn (float64) -> (float64, float64)` has no gradient: it must give one float");
  CHECK(valueAt("def @main(%x: float64) { gradient_at(fn (%v: float64) { %v * %v }, %x) }", 3) ==
        6);
}

TEST_CASE("a match that fails where nothing fits does so in a derivative") {
  const std::string text = R"(
    def @f(%x: float64) -> float64 {
      let %v = match? (if (%x > 0f64) { Some(%x * %x) } else { None }) { Some(%v) => %v * %x };
      %v * 2f64
    }
    def @main(%x: float64) { grad(@f)(%x) }
  )";
  CHECK(valueAt(text, 2) == 24);
  CHECK(std::holds_alternative<interp::Fault>(resultAt(text, -2)));
}

TEST_CASE("records taken apart one after the other do not nest without end") {
  std::string body = "let %x0 = %x;\n";
  for (int i = 0; i < 1000; ++i)
    body += fmt::format("let %x{} = match (P(%x{}, %x)) {{ P(%a, _) => %a + %x }};\n", i + 1, i);
  const std::string text = "type P { P(float64, float64) }\ndef @f(%x: float64) {\n" + body +
                           "%x1000 }\ndef @main(%x: float64) { grad(@f)(%x) }\n";
  CHECK(valueAt(text, 2) == 1001);
}

TEST_CASE("what makes a function that is differentiated happens once") {
  const std::string next = R"(
    def @next(%count: ref(float64), %x: float64) -> fn (float64) -> float64 {
      ref_write(%count, ref_read(%count) + 1f64);
      fn (%v: float64) { %v * %v * %x }
    }
    def @main(%x: float64) {
      let %count = ref(0f64);
  )";
  CHECK(valueAt(next + "let %d = grad(@next(%count, %x))(%x); ref_read(%count) }", 3) == 1);
  CHECK(valueAt(next + "let %d = grad(@next(%count, %x))(%x); %d }", 3) == 18);
  CHECK(valueAt(R"(
    def @main(%x: float64) {
      let %f = ref(fn (%v: float64) { %v });
      ref_write(%f, fn (%v: float64) { %v * %v });
      grad(ref_read(%f))(%x)
    }
  )",
                3) == 6);
}

TEST_CASE("a function of which only a run knows which it is has derivatives") {
  const std::string rest = " is asked for, and which function that is, is not known here";
  auto ofList = [](const std::string& use) {
    return "def @sum(%fs: List[fn (float64) -> float64], %x: float64) -> float64 {\n"
           "  match (%fs) { Cons(%h, %rest) => " +
           use +
           " + @sum(%rest, %x), Nil => 0f64 }\n"
           "}\n"
           "def @main(%x: float64) { @sum(Cons(fn (%v: float64) { %v * %v * %v }, Nil), %x) }";
  };
  CHECK(valueAt(ofList("grad(%h)(%x)"), 2) == 12);
  CHECK(valueAt(ofList("value_and_grad(%h)(%x).0"), 2) == 8);
  CHECK(valueAt(ofList("jvp(%h)(%x, 1f64).1"), 2) == 12);
  CHECK(valueAt(ofList("hvp(%h)(%x, 1f64)"), 2) == 12);
  CHECK(valueAt(ofList("grad(fn (%v: float64) { grad(%h)(%v) })(%x)"), 2) == 12);
  const std::string later = "(let %g = grad(%h); let %k = ref(fn (%v: float64) { %g(%v) });"
                            "ref_read(%k)(%x))";
  CHECK(valueAt(ofList(later), 2) == 12);
  CHECK(valueAt(ofList("(let %made = vjp(%h)(%x); let %back = %made.1; %back(%made.0))"), 2) == 96);
  for (const char* twice : {"grad(fn (%d: float64) { %back(%d) })(%x))",
                            "(let %cell = ref(%back); grad(ref_read(%cell))(%x)))"})
    CHECK(valueAt(ofList(std::string("(let %made = vjp(%h)(%x); let %back = %made.1; ") + twice),
                  2) == 12);
  CHECK(refusal("def @slope(%f: fn (float64) -> float64) { grad(%f)(2f64) }") ==
        "the derivative of `%f`" + rest);
  CHECK(refusal(R"(
    def @main(%x: float64) {
      let %r = ref(%x);
      let %f = ref(fn (%v: float64) { ref_write(%r, %v * %v); ref_read(%r) });
      grad(ref_read(%f))(%x)
    }
  )") == "the derivative of a function that captures a reference to floats" + rest);
}

TEST_CASE("a closure that nobody differentiates needs no derivative of what it differentiates") {
  const std::string text = R"(
    def @twice(%f: fn (float64) -> float64, %x: float64) -> float64 { %f(%f(%x)) }
    def @slope(%f: fn (float64) -> float64, %x: float64) -> float64 { grad(%f)(%x) }
    def @with(%s: fn (fn (float64) -> float64, float64) -> float64, %f: fn (float64) -> float64,
              %x: float64) -> float64 { %s(%f, %x) }
    def @main(%x: float64) -> float64 {
      let %cell = ref(%x);
      match (Cons(fn (%v: float64) { %v * %v * 2f64 }, Nil)) {
        Cons(%f, _) => )";
  auto valueOf = [&](const std::string& use) {
    return valueAt(text + use + ", Nil => 0f64 } }", 2);
  };
  CHECK(valueOf("@twice(fn (%y: float64) { %y - grad(%f)(%y) }, %x)") == 18);
  CHECK(valueOf("@with(@slope, %f, %x)") == 8);
  CHECK(
      valueOf("@twice(fn (%y: float64) { ref_write(%cell, %y); grad(%f)(ref_read(%cell)) }, %x)") ==
      32);
  CHECK(valueOf("grad(fn (%y: float64) { @twice(%f, %y) })(%x)") == 256);
  std::string closure = "(let %g = fn (%y: float64) { grad(%f)(%y) * %y }; ";
  CHECK(valueOf(closure + "@twice(%g, %x))") == 1024);
  CHECK(valueOf(closure + "grad(%g)(%x))") == 16);
  CHECK(valueOf(closure + "grad(fn (%y: float64) { @twice(%g, %y) })(%x))") == 2048);
  const std::string refused =
      "the derivative of `%f`, in a function that may be differentiated itself, is asked for, and "
      "which function that is, is not known here";
  for (const char* use : {"@slope(%g, %x))", "@with(@slope, %g, %x))"})
    CHECK(refusal(text + closure + use + ", Nil => 0f64 } }") == refused);
}

TEST_CASE("a rule of one's own counts in both modes and at every order") {
  // The rules say that x * x has the slope 3 * x, so no derivative is that of the code.
  const std::string f = R"(
    def @f(%x: float64) { %x * %x }
    def @back(%x: float64, %d: float64) { 3f64 * %x * %d }
  )";
  for (const char* rule : {"custom_grad(@f, @back)", "custom_jvp(@f, @back)",
                           "custom_grad(fn (%v: float64) { %v * %v }, @back)"}) {
    const std::string g =
        f + "def @g(%x: float64) { let %c = " + rule + "; %c(%x) * %x }\n" +
        "def @h(%x: float64) { let %c = " + rule + "; let %l = fn (%v: float64) { %c(%v) };" +
        "match (Cons(%c, Cons(%l, Nil))) { Cons(_, Cons(%k, _)) => %k(%x) * %x, _ => 0f64 } }\n";
    for (const char* name : {"@g", "@h"}) {
      auto at = [&](const std::string& what) {
        return valueAt(fmt::format("{}def @main(%x: float64) {{ {} }}", g,
                                   fmt::format(fmt::runtime(what), name)),
                       2);
      };
      CHECK(at("grad({})(%x)") == 16);
      CHECK(at("jvp({})(%x, 1f64).1") == 16);
      CHECK(at("grad(grad({}))(%x)") == 18);
      CHECK(at("jvp(grad({}))(%x, 1f64).1") == 18);
      CHECK(at("grad(fn (%v: float64) {{ jvp({})(%v, 1f64).1 }})(%x)") == 18);
      CHECK(at("jvp(fn (%v: float64) {{ jvp({})(%v, 1f64).1 }})(%x, 1f64).1") == 18);
      CHECK(at("grad(grad(grad({})))(%x)") == 9);
    }
  }
}

TEST_CASE("a rule may be given what its function gave") {
  const std::string f = R"(
    def @root(%x: float64) {
      custom_grad(fn (%v: float64) { sqrt(%v) },
                  fn (%v: float64, %y: float64, %d: float64) { %d / (2f64 * %y) })(%x)
    }
  )";
  CHECK(valueAt(f + "def @main(%x: float64) { grad(@root)(%x) }", 4) == 0.25);
  CHECK(valueAt(f + "def @main(%x: float64) { jvp(@root)(%x, 1f64).1 }", 4) == 0.25);
  CHECK(valueAt(f + "def @main(%x: float64) { jvp(grad(@root))(%x, 1f64).1 }", 4) == -0.03125);
  CHECK(valueAt(f + "def @main(%x: float64) { grad(grad(grad(@root)))(%x) }", 4) == 0.01171875);
}

TEST_CASE("a rule has no derivative for what its function captures") {
  auto with = [](const std::string& captured) {
    return "def @main(%x: float64) { grad(fn (%a: float64) { let %b = " + captured +
           "; custom_grad(fn (%y: float64) { %b * %y }, fn (%y: float64, %d: float64) { %b * %d })"
           "(%x) })(%x) }";
  };
  const std::string refused =
      "`custom_grad` has no gradient: its rule has derivatives for arguments alone, and the "
      "function captures `%b`, which varies; make it an argument";
  CHECK(refusal(with("%a * %a")) == refused);
  CHECK(valueAt(with("stop_gradient(%a)"), 2) == 0);
  CHECK(refusal(R"(
    def @main(%x: float64) {
      let %f = fn (%b: float64) {
        let %g = fn (%y: float64) { %b * %y };
        custom_grad(fn (%y: float64) { %g(%y) }, fn (%y: float64, %d: float64) { %d })(%x)
      };
      grad(%f)(%x)
    }
  )") == refused);
  CHECK(refusal(R"(
    def @main(%x: float64) {
      let %c = custom_grad(fn (%f: fn (float64) -> float64, %y: float64) { %f(%y) },
                           fn (%f: fn (float64) -> float64, %y: float64, %d: float64) { %d });
      grad(fn (%b: float64) { %c(fn (%y: float64) { %y * %b }, %x) })(%x)
    }
  )") == refused);
  // Nothing of the value goes back.
  CHECK(valueAt(R"(
    def @f(%b: float64, %x: float64) {
      let %c = custom_grad(fn (%y: float64) { %b * %y }, fn (%y: float64, %d: float64) { %b * %d });
      grad(fn (%y: float64) { %c(%y) })(%x)
    }
    def @main(%x: float64) { grad(@f)(%x, %x) }
  )",
                2) == 1);
}

TEST_CASE("arguments that a rule leaves out are constants") {
  CHECK(valueAt(R"(
    def @main(%x: float64) {
      let %c = custom_grad(fn (%n: int32, %y: float64, %z: float64) { %y * %z },
                           fn (%n: int32, %y: float64, %z: float64, %d: float64) { %d * %z },
                           nondiff=-1);
      grad(fn (%v: float64) { %c(3, %v, %v * %v) })(%x)
    }
  )",
                2) == 4);
}

TEST_CASE("what is done again on the way back must do the same") {
  auto refusalOf = [](const std::string& body) {
    return refusal("def @add(%r: ref(float64), %v: float64) { ref_write(%r, %v); %v * %v }"
                   "def @main(%x: float64) { grad(fn (%a: float64) { let %r = ref(2f64);" +
                   body + "})(%x) }");
  };
  const std::string again =
      "`checkpoint` has no gradient: the way back calls the function again, and ";
  const std::string reference =
      again + "the content of the reference `%r` that it captures may change";
  CHECK(refusalOf("let %f = checkpoint(fn (%y: float64) { %y * ref_read(%r) }); let %v = %f(%a);"
                  "ref_write(%r, 5f64); %v") == reference);
  CHECK(refusalOf("checkpoint(fn (%y: float64) { @add(%r, %y) })(%a)") == reference);
  CHECK(refusalOf("let %g = fn (%y: float64) { ref_write(%r, %y); %y };"
                  "checkpoint(fn (%y: float64) { %g(%y) })(%a)") == reference);
  CHECK(refusalOf("checkpoint(@add)(%r, %a)") ==
        again + "it takes functions or references, and the content of references may change");
  CHECK(refusalOf("let %g = checkpoint(fn (%y: float64) { fn () { %y } })(%a);"
                  "ref_write(%r, 5f64); %g()") ==
        again + "it gives functions or references, which the way back would make anew");
  CHECK(valueAt(R"(
    def @main(%x: float64) {
      let %f = checkpoint(fn (%v: float64) {
        let %r = ref(%v);
        ref_write(%r, ref_read(%r) * %v);
        ref_read(%r)
      });
      grad(%f)(%x)
    }
  )",
                3) == 6);
}

TEST_CASE("transposes of what is linear, and of nothing else") {
  auto refusalOf = [](const std::string& function) {
    return refusal("def @main(%x: float64) { linear_transpose(" + function + ")(%x, %x) }");
  };
  const std::string is = "the transpose of a function is asked for, which must be linear, and ";
  CHECK(refusalOf("fn (%y: float64) { %y * %y }") == is + "`multiply` is not");
  CHECK(refusalOf("fn (%y: float64) { sin(%y) }") == is + "`sin` is not");
  CHECK(refusalOf("fn (%y: float64) { %y + 1f64 }") == is + "`add` with a constant is not");
  CHECK(refusalOf("fn (%y: float64) { if (%y > 0f64) { %y } else { 2f64 * %y } }") ==
        is + "`greater` is not");
  CHECK(refusalOf("fn (%y: float64) { let %c = ref(1f64); ref_write(%c, %y); ref_read(%c) }") ==
        is + "what it gives holds floats that are no linear function of them");
  CHECK(refusalOf("fn (%y: float64) { 2f64 }") ==
        is + "what it gives holds floats that are no linear function of them");
  CHECK(valueAt(R"(
    def @steps(%n: int32, %x: float64, %f: fn (float64) -> float64) -> float64 {
      if (%n == 0) { 0f64 * %x } else { %f(%x) + @steps(%n - 1, 2f64 * %x, %f) }
    }
    def @main(%x: float64) {
      let %f = fn (%v: (float64, float64)) {
        let %cell = ref(%v.0);
        ref_write(%cell, ref_read(%cell) + %v.1 / %x);
        @steps(3, ref_read(%cell), fn (%y: float64) { %y * sin(0f64 * %x) - %y })
      };
      linear_transpose(%f)((7f64, 8f64), 3f64).1
    }
  )",
                2) == -10.5);
  CHECK(refusal(R"(
    def @main(%x: float64) {
      jvp(custom_grad(fn (%v: float64) { %v },
                      fn (%v: float64, %d: float64) { clip(%d, a_min=-1f64, a_max=1f64) }))(%x, %x).1
    }
  )") == is + "`clip` is not");
}
