// Passes on all programs at hand, what counts as an effect, and where bindings stand.
#include "transform/run_passes.h"

#include "driver/session/session.h"
#include "interp/reference.h"
#include "ir_builder.h"
#include "lang/ir/copy.h"
#include "lang/ir/verify.h"
#include "lang/ir/walk.h"
#include "lang/print/print.h"
#include "parser/metadata/metadata.h"
#include "program_texts.h"
#include "stdlib/ops.h"
#include "tests/harness/alpha_equal.h"
#include "tests/harness/check_types.h"
#include "transform/analysis/placement.h"
#include "transform/passes/inlining_plan.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <sstream>

using harness::alphaEqual;
using namespace lang;
using namespace transform;
using testing_ir::testOperators;

namespace {

using Problems = std::vector<std::string>;

RunOptions options(const OperatorTable& operators) {
  static const tensor::TensorEngine engine = interp::referenceEngine();
  return {.operators = operators, .check = harness::checkTypes, .verify = true, .engine = &engine};
}

std::string wholeText(const Module& module) {
  return parser::wholeText(printModule(module, stdlib::operatorTable()));
}

/// A checked module, from a text without its header.
class Text {
public:
  explicit Text(const std::string& text)
      : program(std::move(
            *session.loadText("test", "#[version = \"0.0.5\"]\n" + text, driver::Stage::Checked))) {
    REQUIRE(program.isGood());
  }

  /// The text after a pass, without the header.
  std::string after(std::string_view pass) {
    const PassRow* row = findPass(pass);
    REQUIRE(row);
    auto result = runPasses(*program.module, program.typing, std::span(&row, 1),
                            options(session.operators()));
    std::string text = wholeText(*result->module);
    return text.substr(text.find('\n') + 1);
  }

  driver::Session session{stdlib::operatorTable()};
  driver::Program program;
};

struct Fixture {
  TypeContext types;
  Module module{types};
  Builder make{module, testOperators()};
};

/// Whether the output beside a program says that it is refused, as some are whose derivatives only
/// copies of generic functions show to be wrong.
bool isRefused(std::filesystem::path program) {
  std::ifstream output(program.replace_extension(".out"));
  std::stringstream text;
  text << output.rdbuf();
  return text.str().find("error[") != std::string::npos;
}

} // namespace

TEST_CASE("every program that is read has its temporaries in their places", "[passes][corpus]") {
  size_t count = 0;
  for (const auto& path : tests::programFiles()) {
    INFO(path.string());
    driver::Session session(stdlib::operatorTable());
    auto program = session.load(path.string(), driver::Stage::Resolved);
    REQUIRE(program);
    if (!program->isGood())
      continue;
    ++count;
    CHECK(violations(*program->module, Property::Placed) == Problems{});
    CHECK(alphaEqual(*program->module, *place(*program->module, session.operators())));
  }
  CHECK(count > 60);
}

TEST_CASE("every pass keeps every program well typed, and prints what reads back",
          "[passes][corpus]") {
  for (const auto& path : tests::programFiles()) {
    INFO(path.string());
    driver::Session session(stdlib::operatorTable());
    auto program = session.load(path.string());
    REQUIRE(program);
    if (!program->isGood())
      continue;
    for (const PassRow& row : passRows()) {
      INFO(row.name);
      // A derivative has to know its function, which in generic code only copies of it do.
      std::vector<const PassRow*> passes{&row};
      if (row.name == "derivatives")
        passes = {findPass("specialise"), findPass("unused-definitions"), &row};
      auto result =
          runPasses(*program->module, program->typing, passes, options(session.operators()));
      if (!result && isRefused(path))
        continue;
      REQUIRE(result);
      const Module& after = *result->module;
      std::string text = wholeText(after);
      auto again = session.loadText("after", text);
      REQUIRE(again);
      CHECK(again->isGood());
      if (again->isGood())
        CHECK(wholeText(*again->module) == text);
    }
  }
}

TEST_CASE("a pass that is run again changes nothing", "[passes]") {
  Text text("def @main(%x: float32, %c: bool, %f: fn (float32) -> float32) {\n"
            "  let %a = %x + 1f;\n"
            "  let %b = (let %k: float32 = %x + 1f; %k * %a);\n"
            "  let %called = %f(%b);\n"
            "  let %cell = ref(%a);\n"
            "  let %unused = %b / %a;\n"
            "  if (%c) { ref_read(%cell) + %b } else { %x + 1f }\n"
            "}\n");
  for (const PassRow& row : passRows()) {
    INFO(row.name);
    const PassRow* twice[] = {&row, &row};
    std::vector<std::unique_ptr<Module>> results;
    auto keep = [&](std::string_view, const Module& module, const Typing&) {
      results.push_back(copyModule(module));
    };
    RunOptions kept = options(text.session.operators());
    kept.after = keep;
    auto result = runPasses(*text.program.module, text.program.typing, twice, kept);
    REQUIRE(result);
    REQUIRE(results.size() == 2);
    CHECK(alphaEqual(*results[0], *results[1]));
  }
}

TEST_CASE("effects of values and of globals", "[effects]") {
  Text text(
      "def @pure(%x: float32) { if (%x > 0f) { %x } else { @leaf(%x) } }\n"
      "def @leaf(%x: float32) { let %c = ref(%x); %x / 0f }\n"
      "def @reads(%c: ref(float32)) { ref_read(%c) }\n"
      "def @writes(%c: ref(float32)) { fn () { ref_write(%c, 1f) }() }\n"
      "def @makes(%c: ref(float32)) { fn () { ref_write(%c, 1f) } }\n"
      "def @even(%x: float32) -> float32 { @odd(%x) }\n"
      "def @odd(%x: float32) -> float32 { @even(%x) }\n"
      "def @calls(%f: fn () -> float32) { %f() }\n"
      "def @local(%c: ref(float32)) { let %f = fn () { ref_read(%c) };\n"
      "  checkpoint(%f)() }\n"
      "def @circle(%x: float32) { let %f = fn (%y: float32) -> float32 { %f(%y) }; %f(%x) }\n");
  const Module& module = *text.program.module;
  Effects effects(module);
  auto of = [&](std::string_view name) {
    Effect effect = effects.of(*module.find(name));
    std::string letters;
    for (auto [holds, letter] : {std::pair(effect.writes, 'w'),
                                 {effect.reads, 'r'},
                                 {effect.isUnknown, '?'},
                                 {effect.allocates, 'a'}})
      letters += holds ? std::string(1, letter) : "";
    return letters;
  };
  CHECK(of("pure") == "a");
  CHECK(of("leaf") == "a");
  CHECK(of("reads") == "r");
  CHECK(of("writes") == "w");
  CHECK(of("makes") == "");
  CHECK(of("even") == "?");
  CHECK(of("odd") == "?");
  CHECK(of("calls") == "?");
  CHECK(of("local") == "r");
  CHECK(of("circle") == "?");
}

TEST_CASE("types are declared where they follow from code that goes", "[passes]") {
  Text text("def @main(%x: int32) {\n"
            "  let %f = fn (%l) { 1 };\n"
            "  let %gone = fn () { %f(Cons(%x, Nil)) };\n"
            "  %f\n"
            "}\n"
            "def @compose(%f, %g, %x) { %f(%g(%x)) }\n");
  CHECK(text.after("dead-code") ==
        "def @compose[A, B, C](%f: fn (B) -> A, %g: fn (C) -> B, %x: C) -> A {\n"
        "  %0 = %g(%x);\n"
        "  %f(%0)\n"
        "}\n"
        "\n"
        "def @main(%x: int32) -> fn (List[int32]) -> int32 {\n"
        "  let %f1 = fn (%l: List[int32]) -> int32 {\n"
        "    1\n"
        "  };\n"
        "  %f1\n"
        "}\n");
}

TEST_CASE("effects that the reader would reorder become lets", "[placement]") {
  Fixture f;
  const Var* g = f.make.var(VarOrigin::Parameter, "g");
  const Var* cell = f.make.var(VarOrigin::Parameter, "cell");
  BlockBuilder body(f.make);
  Atom first = body.call(g, {});
  Atom second = body.call(g, {});
  Atom read = body.bind(f.make.refRead(cell));
  body.let("", f.make.refWrite(cell, first));
  // On demand the reader would call for the second value first, and read after the write.
  f.make.define("main", f.make.function({g, cell}, body.finish(body.tuple({second, read, first}))));
  CHECK(violations(f.module, Property::Placed).size() == 3);
  std::unique_ptr<Module> placed = place(f.module, testOperators());
  CHECK(verify(*placed) == Problems{});
  CHECK(violations(*placed, Property::Placed) == Problems{});
  const auto& bindings = placed->globals[0]->function->body->bindings;
  REQUIRE(bindings.size() == 5);
  for (size_t i : {1, 2})
    CHECK(bindings[i].isLet());
  CHECK_FALSE(bindings[4].isLet());
}

TEST_CASE("a value without effects goes where it is used, but into no function", "[placement]") {
  Fixture f;
  const Var* x = f.make.var(VarOrigin::Parameter, "x");
  BlockBuilder body(f.make), then(f.make), inside(f.make);
  Atom sunk = body.call("negative", {x});
  Atom kept = body.call("add", {x, x});
  body.call("multiply", {x, x});
  Atom result = then.call("add", {sunk, x});
  Atom branch = body.bind(f.make.branch(x, then.finish(result), f.make.block(x)));
  Atom function = body.bind(f.make.function({}, inside.finish(inside.call("add", {kept, x}))));
  f.make.define("main", f.make.function({x}, body.finish(body.tuple({branch, function}))));
  std::unique_ptr<Module> placed = place(f.module, testOperators());
  CHECK(verify(*placed) == Problems{});
  CHECK(violations(*placed, Property::Placed) == Problems{});
  CHECK(printModule(*placed, testOperators()).text == "#[version = \"0.0.5\"]\n"
                                                      "def @main(%x) {\n"
                                                      "  let %v = add(%x, %x);\n"
                                                      "  %1 = if (%x) {\n"
                                                      "    %0 = negative(%x);\n"
                                                      "    add(%0, %x)\n"
                                                      "  } else {\n"
                                                      "    %x\n"
                                                      "  };\n"
                                                      "  %2 = fn () {\n"
                                                      "    add(%v, %x)\n"
                                                      "  };\n"
                                                      "  (%1, %2)\n"
                                                      "}\n");
}

TEST_CASE("long and deep programs are placed without recursion", "[placement]") {
  Fixture f;
  const Var* x = f.make.var(VarOrigin::Parameter, "x");
  const Block* block = f.make.block(x);
  for (int i = 0; i < 20'000; ++i) {
    BlockBuilder around(f.make);
    block = around.finish(around.bind(f.make.branch(x, block, f.make.block(x))));
  }
  BlockBuilder body(f.make);
  Atom last = body.bind(f.make.branch(x, block, f.make.block(x)));
  for (int i = 0; i < 200'000; ++i)
    last = body.call("add", {last, x});
  f.make.define("main", f.make.function({x}, body.finish(last)));
  std::unique_ptr<Module> placed = place(f.module, testOperators(), {.dropsLets = true});
  CHECK(placed->varCount == f.module.varCount);
  CHECK(Effects(*placed).of(*placed->globals[0]).isDroppable());
}

TEST_CASE("properties are found missing", "[passes]") {
  Text text("def @main(%x: float32) {\n"
            "  let %a = %x + 1f;\n"
            "  let %b = (let %c = %x * 2f; %c);\n"
            "  %a * %a\n"
            "}\n");
  const Module& module = *text.program.module;
  CHECK(violations(module, Property::ANormal).size() == 2);
  CHECK(violations(module, Property::Placed).empty());
  CHECK(violations(module, Property::Live) == Problems{"`%b` is not needed"});
  CHECK(violations(module, Property::Graph).size() == 2);
}

TEST_CASE("the table of passes is in order and complete", "[passes]") {
  CHECK(std::ranges::is_sorted(passRows(), {}, &PassRow::name));
  for (const PassRow& row : passRows()) {
    CHECK(row.doc.ends_with('.'));
    CHECK(findPass(row.name) == &row);
  }
  CHECK(findPass("none") == nullptr);
}

TEST_CASE("pipelines name passes, and no two have one name", "[passes]") {
  std::set<std::string_view> names;
  for (const Pipeline* pipeline : pipelines()) {
    INFO(pipeline->name);
    CHECK(names.insert(pipeline->name).second);
    CHECK(pipeline->doc.ends_with('.'));
    for (const Step& step : pipeline->steps) {
      INFO(step.pass);
      CHECK(findPass(step.pass));
      CHECK(step.times > 0);
    }
  }
}

TEST_CASE("types are declared where a pass takes away what they follow from", "[passes]") {
  Text text("def @main(%x: int32) {\n"
            "  let %list = Nil;\n"
            "  let %unused = Cons(%x, %list);\n"
            "  match (%list) { Cons(%f, _) => if (%f == %f) { 1 } else { 2 }, Nil => 1 }\n"
            "}\n");
  RunOptions lazy = options(text.session.operators());
  lazy.declaring = Declaring::WhenNeeded;
  const PassRow* deadCode = findPass("dead-code");
  auto result = runPasses(*text.program.module, text.program.typing, std::span(&deadCode, 1), lazy);
  REQUIRE(result);
  REQUIRE(result->module);
  std::string after = wholeText(*result->module);
  CHECK(after.find("%unused") == std::string::npos);
  INFO(after);
  CHECK(after.find("%list: List[int32]") != std::string::npos);
}

TEST_CASE("a program that nothing is done to is not copied", "[passes]") {
  Text text("def @main(%x: int32) { %x }\n");
  RunOptions lazy = options(text.session.operators());
  lazy.declaring = Declaring::WhenNeeded;
  auto result = runPasses(*text.program.module, text.program.typing, machinePipeline, lazy);
  REQUIRE(result);
  CHECK(!result->module);
}

TEST_CASE("a pass that repeats stops when it finds nothing to do", "[passes]") {
  Text text("def @main(%x: int32) { @outer(((%x, 2), 3)) }\n"
            "def @outer(%t: ((int32, int32), int32)) { @inner(%t.0) + %t.1 }\n"
            "def @inner(%t: (int32, int32)) { %t.0 * %t.1 }\n");
  auto result = runPasses(*text.program.module, text.program.typing, machinePipeline,
                          options(text.session.operators()));
  REQUIRE(result);
  const Function& outer = *result->module->find("outer")->function;
  CHECK(outer.parameters.size() == 3);
}

TEST_CASE("a result that is not sound names its pass", "[passes]") {
  Text text("def @main(%x: int32) { %x + 1 }\n");
  constexpr PassRow unsound{
      "unsound", "Is wrong.", {}, {}, [](const Module& module, const PassContext& context) {
        auto made = copyModule(module);
        Builder make(*made, context.operators);
        const Var* loose = make.var(VarOrigin::Parameter, "x", nullptr);
        BlockBuilder body(make);
        make.define("loose", make.function({}, body.finish(loose)));
        return made;
      }};
  const PassRow* passes[] = {&unsound};
  CHECK_THROWS_WITH(runPasses(*text.program.module, text.program.typing, passes,
                              options(text.session.operators())),
                    Catch::Matchers::StartsWith("unsound gives an unsound module: "));
}

TEST_CASE("what comes through many branches is compared once for each", "[passes]") {
  std::string text = "def @f(%n: int32, %a: float32, %b: float32) -> (float32, float32) {\n"
                     "  if (%n == 0) { (%a, %b) } else {\n"
                     "    let %r0 = @f(%n - 1, %a, %b);\n";
  // Through each of them lead twice as many ways.
  constexpr int branches = 60;
  for (int i = 0; i < branches; ++i)
    text += fmt::format("    let %r{1} = if (%n > {0}) {{ (%r{0}.0, %r{0}.1) }} else {{\n"
                        "      (%r{0}.1, %r{0}.0) }};\n",
                        i, i + 1);
  text += fmt::format("    (%r{0}.0, %r{0}.1)\n  }}\n}}\n", branches);
  CHECK(Text(text + "def @main(%x: float32) { @f(3, %x, %x) }\n")
            .after("equal-values")
            .find("(%a, %a)") != std::string::npos);
  CHECK(Text(text + "def @main(%x: float32) { @f(3, %x, 1f) }\n")
            .after("equal-values")
            .find("(%a, %b)") != std::string::npos);
}

TEST_CASE("a chain of definitions is opened at once, but for branches in branches", "[passes]") {
  auto keptCalls = [](std::string_view body) {
    std::string text = "def @link0(%x: float32) { sin(%x) }\n";
    for (int i = 1; i < 300; ++i)
      text += fmt::format("def @link{}(%x: float32) -> float32 {{ {} }}\n", i,
                          fmt::format(fmt::runtime(body), i - 1));
    Text chain(text + "def @main(%x: float32) { @link299(%x) }\n");
    const Module& module = *chain.program.module;
    InliningPlan plan(module, chain.program.typing, entriesOf(module, mainAlone),
                      {.smallBody = 40, .mostSize = 10'000});
    size_t kept = 0;
    auto count = [&](const Binding& binding) {
      const auto* call = binding.value->as<Call>();
      const auto* callee = call ? call->callee.value->as<Global>() : nullptr;
      kept += callee && callee->name.starts_with("link") && !plan.of(binding);
    };
    walk(module, count, [](const Operand&) {});
    return kept;
  };
  CHECK(keptCalls("tanh(@link{}(%x))") == 0);
  CHECK(keptCalls("if (%x > 0f) {{ @link{}(%x) }} else {{ %x }}") == 2);
}

TEST_CASE("a chain makes no data", "[passes]") {
  std::string chain = "@sum(@map(fn (%x: int32) -> int32 { %x * 2 }, %xs))";
  Text text("def @main(%xs: List[int32]) -> int32 { " + chain + " }\n");
  const PassRow* passes[] = {findPass("deforest"), findPass("unused-definitions")};
  auto result = runPasses(*text.program.module, text.program.typing, passes,
                          options(text.session.operators()));
  REQUIRE(result);
  std::string after = wholeText(*result->module);
  CHECK(after.find("Cons(%") < after.find("=>"));
  CHECK(after.find("= Cons(") == std::string::npos);
  CHECK(after.find("fn (") == std::string::npos);
}
