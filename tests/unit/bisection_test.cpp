// Passes that are wrong on purpose, which nothing but these tests can see.
#include "driver/bisection.h"

#include "driver/session/line_difference.h"
#include "interp/reference.h"
#include "lang/ir/rewrite.h"
#include "stdlib/ops.h"
#include "tests/harness/check_types.h"
#include "transform/pipelines.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace lang;
using transform::PassContext;
using transform::PassRow;

namespace {

using Replacement = const Expr* (*)(Builder& make, const Call& addition);

/// Puts another value in the place of every addition.
class Replacing : public Rewriter {
public:
  Replacing(const Module& from, Builder& into, Replacement replacement)
      : Rewriter(from, into), replacement_(replacement) {}

private:
  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    const auto* call = value->as<Call>();
    const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
    bool isAddition = op && op->row->infix == "+";
    return Rewriter::bind(old, isAddition ? replacement_(make, *call) : value, out);
  }

  Replacement replacement_;
};

std::unique_ptr<Module> subtracting(const Module& module, const PassContext& context) {
  return rewritten<Replacing>(
      module, context.operators, [](Builder& make, const Call& call) -> const Expr* {
        return make.call("subtract", {call.arguments[0].value, call.arguments[1].value});
      });
}

/// Adds a float64.
std::unique_ptr<Module> widening(const Module& module, const PassContext& context) {
  return rewritten<Replacing>(
      module, context.operators, [](Builder& make, const Call& call) -> const Expr* {
        return make.call("add", {call.arguments[0].value, make.scalar(runtime::Float64, 1)});
      });
}

constexpr PassRow subtractingPass{"subtracting", "Is wrong.", {}, {}, subtracting};
/// Tells of a step on its way that is wrong, and gives what is right.
std::unique_ptr<Module> telling(const Module& module, const PassContext& context) {
  auto wrong = subtracting(module, context);
  (*context.within)("telling/step", *wrong, context.typing);
  return subtracting(*wrong, context);
}

constexpr PassRow tellingPass{"telling", "Is wrong on its way.", {}, {}, telling};
constexpr PassRow wideningPass{"widening", "Is ill-typed.", {}, {}, widening};

/// What bisecting passes over a program whose `@main` takes a float32 tells of 3.
std::string bisected(const std::string& text, const std::vector<const PassRow*>& passes) {
  driver::Session session(stdlib::operatorTable());
  auto program = session.loadText("test", "#[version = \"0.0.5\"]\n" + text);
  REQUIRE(program);
  REQUIRE(program->isGood());
  driver::Bisection bisection(
      session, *program->module, program->typing, "main",
      {runtime::tensorValue(runtime::Tensor::scalar(runtime::Float32, 3.0F))},
      {.engine = interp::referenceEngine()});
  auto look = [&](std::string_view pass, const Module& module, const Typing& typing) {
    bisection.look(pass, module, typing);
  };
  try {
    auto made = transform::runPasses(*program->module, program->typing, passes,
                                     {.operators = stdlib::operatorTable(),
                                      .check = harness::checkTypes,
                                      .after = look,
                                      .within = look});
    REQUIRE(made);
  } catch (const transform::PassFault& fault) {
    bisection.refuse(fault);
  }
  return bisection.report();
}

const PassRow* pass(std::string_view name) {
  return transform::findPass(name);
}

} // namespace

TEST_CASE("passes that are right are found to be so", "[bisection]") {
  CHECK(bisected("def @main(%x: float32) { %x + 1f }\n", {pass("simplify"), pass("dead-code")}) ==
        "`@main` gives the same after each of 2 passes that were compared\n4f\n");
}

TEST_CASE("a wrong pass is found, and the definition that matters", "[bisection]") {
  const std::string text = "def @unused(%x: float32) { %x + 5f }\n"
                           "def @zero(%x: float32) { %x + 0f }\n"
                           "def @next(%x: float32) { %x + 1f }\n"
                           "def @main(%x: float32) { @next(@zero(%x)) }\n";
  CHECK(bisected(text, {pass("graph-form"), &subtractingPass, pass("inlining")}) ==
        "error: the pass `subtracting` changes what `@main` gives\n"
        "  before: 4f\n"
        "  after: 2f\n"
        "the first of its changes that matters is in `@next`\n"
        " def @next(%x: float32) -> float32 {\n"
        "-  add(%x, 1f)\n"
        "+  subtract(%x, 1f)\n"
        " }\n");
}

TEST_CASE("an ill-typed result is told with its definition", "[bisection]") {
  const std::string text = "def @next(%x: float32) { %x + 1f }\n"
                           "def @main(%x: float32) { @next(%x) * 2f }\n";
  std::string report = bisected(text, {pass("simplify"), &wideningPass});
  CHECK(report.starts_with("error: widening gives an ill-typed module: "));
  CHECK(report.find("the first of its changes that matters is in `@next`\n") != std::string::npos);
}

TEST_CASE("derivatives are compared before and after they are written out", "[bisection]") {
  const std::string text = "def @loss(%w: float32) { let %a = %w * %w; %a * %w + %w }\n"
                           "def @main(%w: float32) { grad(@loss)(%w) }\n";
  std::vector<const PassRow*> passes;
  for (const transform::Step& step : transform::derivativePipeline.steps)
    passes.push_back(pass(step.pass));
  // Constructors, and the only round.
  constexpr size_t stepsInside = 2;
  CHECK(bisected(text, passes) ==
        fmt::format("`@main` gives the same after each of {} passes that were compared\n28f\n",
                    passes.size() + stepsInside));
  passes.insert(passes.begin() + 3, &subtractingPass);
  std::string report = bisected(text, passes);
  INFO(report);
  CHECK(report.starts_with("error: the pass `subtracting` changes what `@main` gives\n"
                           "  before: 28f\n"
                           "  after: 26f\n"
                           "the first of its changes that matters is in `@loss`\n"));
}

TEST_CASE("steps inside of a pass are compared", "[bisection]") {
  std::string report = bisected("def @main(%x: float32) { %x + 1f }\n", {&tellingPass});
  CHECK(report.starts_with("error: the pass `telling/step` changes what `@main` gives\n"
                           "  before: 4f\n"
                           "  after: 2f\n"));
}

TEST_CASE("rounds of derivatives are compared, with what is between them", "[bisection]") {
  const std::string text = "def @cube(%w: float32) { %w * %w * %w }\n"
                           "def @slope(%w: float32) { let %d = grad(@cube)(%w); %d * %d }\n"
                           "def @main(%w: float32) { grad(@slope)(%w) }\n";
  CHECK(bisected(text, {pass("derivatives")}) ==
        fmt::format("`@main` gives the same after each of {} passes that were compared\n972f\n",
                    4 + std::size(transform::betweenOrdersPipeline.steps)));
}

TEST_CASE("gradients that passes add are compared", "[bisection]") {
  driver::Session session(stdlib::operatorTable());
  auto program = session.loadText("test", "#[version = \"0.0.5\"]\n"
                                          "def @main(%w: float32) { %w * %w + %w }\n");
  REQUIRE(program);
  driver::Bisection bisection(
      session, *program->module, program->typing, "main",
      {runtime::tensorValue(runtime::Tensor::scalar(runtime::Float32, 3.0F))},
      {.engine = interp::referenceEngine()}, 2);
  auto look = [&](std::string_view pass, const Module& module, const Typing& typing) {
    bisection.look(pass, module, typing);
  };
  session.watchPasses({look, look, /*verify=*/true});
  driver::Derivation derivation(session, *program);
  REQUIRE(derivation.writeOut(transform::mainAlone));
  REQUIRE(derivation.addGradient("main", 2));
  INFO(bisection.report());
  CHECK_FALSE(bisection.isFound());
  CHECK(bisection.notes() == "");
  CHECK(bisection.report().ends_with("passes that were compared\n(12f, (2f,))\n"));
  auto wrong = [](const Module& from, const PassContext& context) {
    return subtracting(from, context);
  };
  REQUIRE(derivation.add("subtracting", wrong));
  CHECK(bisection.report().starts_with("error: the pass `subtracting` changes what `@main` gives\n"
                                       "  before: (12f, (2f,))\n"));
}

TEST_CASE("definitions with graph lines and strings are put together", "[bisection]") {
  const std::string text =
      "def @first(%x: float32) { %0 = %x * 2f; %1 = %0 * %x; (%1 + %0) * %1 }\n"
      "def @second(%x: float32) { %2 = %x * 3f; %3 = cast(%2, dtype=\"float32\"); %3 + %2 * %3 }\n"
      "def @main(%x: float32) { @first(@second(%x)) }\n";
  std::string report = bisected(text, {&subtractingPass});
  INFO(report);
  CHECK(report.find("the first of its changes that matters is in `@first`\n") != std::string::npos);
}

TEST_CASE("lines that differ are shown with those beside them", "[bisection]") {
  CHECK(driver::lineDifference("a\nb\nc\nd\ne\n", "a\nb\nc\nx\ne\n") == " b\n c\n-d\n+x\n e\n");
  CHECK(driver::lineDifference("a\nb\n", "b\nc\n") == "-a\n b\n+c\n");
  CHECK(driver::lineDifference("", "a\n") == "+a\n");
  CHECK(driver::lineDifference("a\n", "a\n").find_first_of("-+") == std::string::npos);
}
