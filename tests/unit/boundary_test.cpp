// What the checker cannot prove of shapes is found out when a value crosses into a declared type.
#include "codegen/strips/compile/sized.h"
#include "driver/session/session.h"
#include "driver/values/tensor_text.h"
#include "driver/values/text.h"
#include "interp/interpret.h"
#include "lang/calls/boundary.h"
#include "lang/ir/walk.h"
#include "stdlib/ops.h"

#include <catch2/catch.hpp>

namespace {

const std::string header = "#[version = \"0.0.5\"]\n";

struct Run {
  driver::Session session{stdlib::operatorTable()};
  driver::Program program;
  std::string text;
  std::variant<runtime::Value, interp::Fault> result;

  /// Calls `@main` with float32 tensors of zeros; int32 scalars for shapes of rank 0.
  Run(const std::string& definitions, const std::vector<runtime::Shape>& shapes)
      : text(header + definitions) {
    auto loaded = session.loadText("test", text);
    REQUIRE(loaded);
    program = std::move(*loaded);
    for (const lang::Diagnostic& item : program.diagnostics.all())
      UNSCOPED_INFO(item.text.plain());
    REQUIRE(program.isGood());
    std::vector<runtime::Value> arguments;
    for (const runtime::Shape& shape : shapes)
      arguments.push_back(runtime::tensorValue(
          runtime::Tensor(shape.empty() ? runtime::Int32 : runtime::Float32, shape)));
    result = interp::interpret(*program.module, program.typing, session.operators(),
                               *program.module->find("main"), std::move(arguments),
                               {.engine = strips::stripsEngine()});
  }

  std::string place(lang::SourceRange range) const {
    uint32_t base = program.source->base();
    return text.substr(range.begin - base, range.end - range.begin);
  }
};

std::string shapeOf(const runtime::Value& value) {
  if (value.kind() != runtime::ValueKind::Tuple)
    return value.kind() == runtime::ValueKind::Tensor
               ? driver::tensorTypeText(value.tensor().dtype(), value.tensor().shape(),
                                      lang::Notation::Relay)
               : "another value";
  std::string text;
  for (const runtime::Value& field : value.fields())
    text += (text.empty() ? "" : ", ") + shapeOf(field);
  return "(" + text + ")";
}

/// The type of what `@main` returns, or the fault: problem, notes, and the text that it points at.
std::string outcome(const std::string& definitions, const std::vector<runtime::Shape>& shapes) {
  Run run(definitions, shapes);
  const auto* fault = std::get_if<interp::Fault>(&run.result);
  if (!fault)
    return shapeOf(std::get<runtime::Value>(run.result));
  std::string said = fault->problem.plain();
  for (const runtime::Words& note : fault->notes)
    said += "; " + note.plain();
  return said + "; at " + run.place(fault->range);
}

struct Row {
  std::string text;
  std::vector<runtime::Shape> shapes;
  std::string result;
};

template <size_t count>
void checkRows(const Row (&rows)[count]) {
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(outcome(row.text, row.shapes) == row.result);
  }
}

const std::string declares = " is declared as `Tensor[";
const std::string inferred = " is inferred as `Tensor[(3), float32]`, but ";

} // namespace

TEST_CASE("arguments are compared with declared parameters", "[boundary]") {
  const std::string fixed = "def @g(%x: Tensor[(4, 3), float32]) { %x } "
                            "def @main(%x: Tensor[(?, 3), float32]) { @g(%x) }";
  const Row rows[] = {
      {fixed, {{4, 3}}, "Tensor[(4, 3), float32]"},
      {fixed,
       {{2, 3}},
       "argument `%x` of `@g`" + declares +
           "(4, 3), float32]`, but here it is `Tensor[(2, 3), float32]`; at %x"},
      {"def @g(%t: (Tensor[(?, 2), float32], (Tensor[(3), float32], int32))) { %t } "
       "def @main(%x: Tensor[(?), float32], %y: Tensor[(1, ?), float32]) { @g((%y, (%x, 1))) }",
       {{4}, {1, 2}},
       "argument `%t.1.0` of `@g`" + declares +
           "(3), float32]`, but here it is `Tensor[(4), float32]`; at (%y, (%x, 1))"},
      {"def @main(%x: Tensor[(?), float32]) "
       "{ let %f = fn (%a: Tensor[(3), float32]) { %a }; %f(%x) }",
       {{4}},
       "argument `%a` of `%f`" + declares +
           "(3), float32]`, but here it is `Tensor[(4), float32]`; at %x"},
      {"def @main(%x: Tensor[(?), float32]) "
       "{ let %f = fn (%a: Tensor[(3), float32]) { %a }; %f(%x) }",
       {{3}},
       "Tensor[(3), float32]"},
      {"def @apply[A, B](%f: fn (A) -> B, %a: A) -> B { %f(%a) } "
       "def @g(%x: Tensor[(3), float32]) { %x } "
       "def @h[A](%x: A) -> A { %x } "
       "def @main(%x: Tensor[(?), float32]) { @apply(@g, @h(%x)) }",
       {{4}},
       "argument `%x` of `@g`" + declares +
           "(3), float32]`, but here it is `Tensor[(4), float32]`; at %a"},
  };
  checkRows(rows);
}

TEST_CASE("a name has one size in a call", "[boundary]") {
  const std::string two = "def @main(%x: Tensor[(n, 3), float32], %y: Tensor[(n), float32]) "
                          "{ (%x, %y) }";
  const std::string next = "def @g(%x: Tensor[(n + 1), float32], %y: Tensor[(2 * n), float32]) "
                           "{ (%x, %y) } "
                           "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) "
                           "{ @g(%x, %y) }";
  const std::string area = "def @g(%x: Tensor[(n * m), float32], %y: Tensor[(n), float32]) "
                           "{ %x } def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) "
                           "{ @g(%x, %y) }";
  const Row rows[] = {
      {two, {{4, 3}, {4}}, "(Tensor[(4, 3), float32], Tensor[(4), float32])"},
      {two,
       {{4, 3}, {5}},
       "argument `%y` of `@main`" + declares +
           "(n), float32]`, but here it is `Tensor[(5), float32]`; `n` is 4 in `%x`, but here it "
           "is 5; at %y"},
      {next, {{5}, {8}}, "(Tensor[(5), float32], Tensor[(8), float32])"},
      {next,
       {{5}, {10}},
       "argument `%y` of `@g`" + declares +
           "(2 * n), float32]`, but here it is `Tensor[(10), float32]`; `2 * n` is 8, because `n` "
           "is 4 "
           "in `%x`, but here it is 10; at %y"},
      {next,
       {{0}, {10}},
       "argument `%x` of `@g`" + declares +
           "(n + 1), float32]`, but here it is `Tensor[(0), float32]`; no size of `n` makes "
           "`n + 1` 0; at %x"},
      {area, {{12}, {4}}, "Tensor[(12), float32]"},
      {area,
       {{12}, {5}},
       "argument `%x` of `@g`" + declares +
           "(m * n), float32]`, but here it is `Tensor[(12), float32]`; no size of `m` makes `m * "
           "n` "
           "12, where `n` is 5 in `%y`; at %x"},
      {"def @g(%x: Tensor[(n, n), float32]) { %x } "
       "def @main(%x: Tensor[(?, ?), float32]) { @g(%x) }",
       {{4, 5}},
       "argument `%x` of `@g`" + declares +
           "(n, n), float32]`, but here it is `Tensor[(4, 5), float32]`; `n` is 4 in `%x`, but "
           "here it is 5; at %x"},
  };
  checkRows(rows);
}

TEST_CASE("results are compared with declared results", "[boundary]") {
  const std::string same = "def @g(%x: Tensor[(n), float32], %y: Tensor[(?), float32]) "
                           "-> Tensor[(n), float32] { %y } "
                           "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) "
                           "{ @g(%x, %y) }";
  const Row rows[] = {
      {"def @main(%x: Tensor[(?), float32]) -> Tensor[(3), float32] { %x }",
       {{4}},
       "the result of `@main`" + declares +
           "(3), float32]`, but it is `Tensor[(4), float32]`; at %x"},
      {"def @main(%x: Tensor[(?), float32]) -> Tensor[(3), float32] { %x }",
       {{3}},
       "Tensor[(3), float32]"},
      {same, {{4}, {4}}, "Tensor[(4), float32]"},
      {same,
       {{4}, {5}},
       "the result of `@g`" + declares +
           "(n), float32]`, but it is `Tensor[(5), float32]`; `n` is 4 in `%x`, but here it is 5; "
           "at %y"},
      {"def @g(%x: Tensor[(?), float32]) { %x } "
       "def @main(%x: Tensor[(?), float32]) -> Tensor[(3), float32] { @g(%x) }",
       {{4}},
       "the result of `@main`" + declares +
           "(3), float32]`, but it is `Tensor[(4), float32]`; at @g(%x)"},
      {"def @main(%x: Tensor[(?), float32]) -> (Tensor[(?), float32], Tensor[(3), float32]) "
       "{ (%x, %x) }",
       {{4}},
       "field `.1` of the result of `@main`" + declares +
           "(3), float32]`, but it is `Tensor[(4), float32]`; at (%x, %x)"},
  };
  checkRows(rows);
}

TEST_CASE("values of annotated lets are compared", "[boundary]") {
  const std::string tail = "def @g(%x: Tensor[(?), float32]) { %x } "
                           "def @main(%x: Tensor[(?), float32]) "
                           "{ let %y: Tensor[(3), float32] = @g(%x); %y }";
  const std::string named = "def @main(%x: Tensor[(n), float32], %y: Tensor[(?), float32]) "
                            "{ let %z: Tensor[(n), float32] = %y; 1 }";
  const Row rows[] = {
      {tail, {{3}}, "Tensor[(3), float32]"},
      {tail,
       {{4}},
       "`%y`" + declares + "(3), float32]`, but its value is `Tensor[(4), float32]`; at @g(%x)"},
      {named, {{4}, {4}}, "int32"},
      {named,
       {{4}, {5}},
       "`%z`" + declares +
           "(n), float32]`, but its value is `Tensor[(5), float32]`; `n` is 4 in `%x`, but here it "
           "is 5; at %y"},
  };
  checkRows(rows);
}

TEST_CASE("a closure keeps the sizes of the call that made it", "[boundary]") {
  const std::string text =
      "def @main(%x: Tensor[(n), float32], %y: Tensor[(?), float32]) {\n"
      "  let %f = fn (%a: Tensor[(?), float32]) {\n"
      "    let %g = fn (%b: Tensor[(n), float32]) { %b };\n    %g(%a)\n  };\n  %f(%y)\n}";
  const Row rows[] = {
      {text, {{4}, {4}}, "Tensor[(4), float32]"},
      {text,
       {{4}, {5}},
       "argument `%b` of `%g`" + declares +
           "(n), float32]`, but here it is `Tensor[(5), float32]`; `n` is 4 in the function around "
           "it, but here it is 5; at %a"},
  };
  checkRows(rows);
}

TEST_CASE("fields of new values are compared with their constructor", "[boundary]") {
  const std::string text = "type Row { Row(Tensor[(3), float32]) } "
                           "def @main(%x: Tensor[(?), float32]) { Row(%x) }";
  const Row rows[] = {
      {text, {{3}}, "another value"},
      {text,
       {{4}},
       "field 0 of `Row`" + declares +
           "(3), float32]`, but here it is `Tensor[(4), float32]`; at %x"},
  };
  checkRows(rows);
}

TEST_CASE("each call of a recursion has its own sizes", "[boundary]") {
  const Row rows[] = {
      {"def @grow(%i: int32, %x: Tensor[(n), float32]) -> Tensor[(?), float32] {\n"
       "  if (%i == 0) { %x } else { @grow(%i - 1, @twice(%x)) }\n}\n"
       "def @twice(%x: Tensor[(?), float32]) -> Tensor[(?), float32] "
       "{ concatenate((%x, %x)) }\n"
       "def @main(%i: Tensor[(1), float32]) { @grow(5, %i) }",
       {{1}},
       "Tensor[(32), float32]"},
  };
  checkRows(rows);
}

TEST_CASE("loops with declared results take no space", "[boundary]") {
  const std::string loops[] = {
      "def @f(%i: int32, %x: Tensor[(n), float32]) -> Tensor[(n), float32] "
      "{ if (%i == 0) { %x } else { @f(%i - 1, %x) } }",
      "def @f(%i: int32, %x: Tensor[(?), float32]) -> Tensor[(3), float32] "
      "{ if (%i == 0) { %x } else { @g(%i - 1, %x) } } "
      "def @g(%i: int32, %x: Tensor[(?), float32]) { @f(%i, %x) }",
  };
  for (const std::string& loop : loops) {
    Run run(loop + " def @main(%x: Tensor[(3), float32]) { @f(200000, %x) }", {{3}});
    interp::Options options{.engine = strips::stripsEngine()};
    options.limits.depth = 10;
    auto result =
        interp::interpret(*run.program.module, run.program.typing, run.session.operators(),
                          *run.program.module->find("main"),
                          {runtime::tensorValue(runtime::Tensor(runtime::Float32, {3}))}, options);
    CAPTURE(loop);
    CHECK(std::holds_alternative<runtime::Value>(result));
  }
}

TEST_CASE("a million open calls are compared", "[boundary]") {
  CHECK(outcome("def @f(%i: int32, %x: Tensor[(n), float32]) -> Tensor[(n), float32] {\n"
                "  if (%i == 0) { %x } else { let %y = @f(%i - 1, %x); %x }\n}\n"
                "def @main(%x: Tensor[(3), float32]) { @f(1000000, %x) }",
                {{3}}) == "Tensor[(3), float32]");
}

TEST_CASE("types that name no size cost nothing", "[boundary]") {
  driver::Session session(stdlib::operatorTable());
  auto loaded = session.loadText(
      "test", header +
                  "def @main[A](%i: int32, %x: Tensor[(?, ?), float32], %a: A, %f: fn (A) -> A) "
                  "-> (int32, A) { let %y: Tensor[(?, ?), float32] = %x; (%i, %a) }");
  REQUIRE(loaded);
  REQUIRE(loaded->isGood());
  lang::Boundaries boundaries(*loaded->module, loaded->typing);
  const lang::Function& main = *loaded->module->find("main")->function;
  CHECK(boundaries.of(main) == nullptr);
  lang::walk(
      *main.body, [&](const lang::Binding& item) { CHECK(!boundaries.typeOf(*item.var)); },
      [](const lang::Operand&) {});
}

TEST_CASE("what a function requires of its names is looked at in each call", "[boundary]") {
  Run run("def @f(%x: Tensor[(n), float32]) { %x } "
          "def @main(%x: Tensor[(?), float32]) { @f(%x) }",
          {{2}});
  REQUIRE(std::holds_alternative<runtime::Value>(run.result));
  const lang::Function& function = *run.program.module->find("f")->function;
  const lang::Requirement needed{function.parameters[0]->annotation->shape[0], 3,
                                 run.session.operators().find("nn.conv2d"), function.range};
  lang::Typing typing = run.program.typing;
  typing.setRequirements(function, {needed});
  for (int64_t size : {2, 3}) {
    auto result = interp::interpret(
        *run.program.module, typing, run.session.operators(), *run.program.module->find("main"),
        {runtime::tensorValue(runtime::Tensor(runtime::Float32, {size}))},
        {.engine = strips::stripsEngine()});
    const auto* fault = std::get_if<interp::Fault>(&result);
    CHECK((fault != nullptr) == (size < 3));
    if (fault) {
      CHECK(fault->problem.plain() ==
            "`@f` needs `n` to be at least 3 for `nn.conv2d`, but it is 2");
      CHECK(run.place(fault->range) == "@f(%x)");
    }
  }
}

TEST_CASE("the shapes of a fault are data", "[boundary]") {
  Run run("def @g(%x: Tensor[(n, n, 3), float32]) { %x } "
          "def @main(%x: Tensor[(?, ?, ?), float32]) { @g(%x) }",
          {{4, 5, 2}});
  const auto* fault = std::get_if<interp::Fault>(&run.result);
  REQUIRE(fault);
  REQUIRE(fault->shapes.rows.size() == 2);
  CHECK(fault->shapes.rows[0].dims == std::vector<std::string>{"n", "n", "3"});
  CHECK(fault->shapes.rows[1].dims == std::vector<std::string>{"4", "5", "2"});
  CHECK(fault->shapes.rows[1].marks == std::vector<size_t>{1, 2});
  CHECK(fault->calls.empty());
}

TEST_CASE("what comes out of a function, cell or list is compared", "[boundary]") {
  const std::string twice = "fn (%x: Tensor[(3), float32]) -> Tensor[(?), float32] "
                            "{ concatenate((%x, %x)) }";
  const Row rows[] = {
      {"def @app(%f: fn (Tensor[(3), float32]) -> Tensor[(3), float32]) { %f([1f, 2f, 3f]) } "
       "def @main() { @app(" +
           twice + ") }",
       {},
       "the result of `@app`" + inferred + "it is `Tensor[(6), float32]`; at %f([1f, 2f, 3f])"},
      {"def @app(%f: fn (Tensor[(3), float32]) -> Tensor[(3), float32]) "
       "{ let %y = %f([1f, 2f, 3f]); (%y, 1) } def @main() { @app(" +
           twice + ") }",
       {},
       "`%y`" + inferred + "its value is `Tensor[(6), float32]`; at %f([1f, 2f, 3f])"},
      {"def @app(%f: fn (Tensor[(3), float32]) -> Tensor[(3), float32]) "
       "{ (%f([1f, 2f, 3f]), 1) } def @main() { @app(" +
           twice + ") }",
       {},
       "what this gives" + inferred + "its value is `Tensor[(6), float32]`; at %f([1f, 2f, 3f])"},
      {"def @first(%l: List[Tensor[(3), float32]]) "
       "{ match (%l) { Cons(%h, _) => %h + 1f, Nil => [1f, 2f, 3f] } } "
       "def @main(%x: Tensor[(?), float32]) { @first(Cons(%x, Nil)) }",
       {{6}},
       "`%h`" + inferred + "its value is `Tensor[(6), float32]`; at %h"},
      {"def @read(%r: ref(Tensor[(3), float32])) { ref_read(%r) + 1f } "
       "def @main(%x: Tensor[(?), float32]) { let %r = ref(%x); @read(%r) }",
       {{6}},
       "what this gives" + inferred + "its value is `Tensor[(6), float32]`; at ref_read(%r)"},
      {"def @id(%l: List[Tensor[(3), float32]]) -> List[Tensor[(3), float32]] { %l } "
       "def @main(%x: Tensor[(?), float32]) { @id(Cons([1f, 2f, 3f], Cons(%x, Nil))) }",
       {{6}},
       "a part of the result of the run" + inferred +
           "it is `Tensor[(6), float32]`; at @id(Cons([1f, 2f, 3f], Cons(%x, Nil)))"},
      {"def @same(%x: Tensor[(n), float32], %l: List[Tensor[(n), float32]]) "
       "{ match (%l) { Cons(%h, _) => %h + %x, Nil => %x } } "
       "def @main(%x: Tensor[(?), float32]) { @same([1f], Cons(%x, Nil)) }",
       {{6}},
       "`%h` is inferred as `Tensor[(n), float32]`, but its value is `Tensor[(6), float32]`; `n` "
       "is 1 in `%x`, but here it is 6; at %h"},
  };
  checkRows(rows);
}

TEST_CASE("inferred parameters are compared", "[boundary]") {
  const Row rows[] = {
      {"def @call(%f: fn (Tensor[(3), float32]) -> int32, %x: Tensor[(3), float32]) { %f(%x) } "
       "def @main(%x: Tensor[(?), float32]) { @call(fn (%a) { let %b = (%a, 1); %b.1 }, %x) }",
       {{6}},
       "argument `%x` of `@call`" + declares +
           "(3), float32]`, but here it is `Tensor[(6), float32]`; at %x"},
      {"def @call(%f: fn (Tensor[(?), float32]) -> int32, %x: Tensor[(?), float32]) { %f(%x) } "
       "def @main(%x: Tensor[(?), float32]) { let %f = fn (%a) { let %b: Tensor[(3), float32] = "
       "%a; 1 }; @call(%f, %x) }",
       {{6}},
       "argument `%a` of `%f`" + inferred + "here it is `Tensor[(6), float32]`; at %x"},
      {"def @main(%x: Tensor[(?), float32]) { "
       "let %g: fn (Tensor[(?), float32]) -> Tensor[(3), float32] = "
       "fn (%a: Tensor[(3), float32]) { %a }; %g(%x) }",
       {{6}},
       "argument `%a` of `%g`" + declares +
           "(3), float32]`, but here it is `Tensor[(6), float32]`; at %x"},
  };
  checkRows(rows);
}
