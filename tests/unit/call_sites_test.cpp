// What call sites make anew, in counts: questions to a relation, tensor expressions, kernels; and
// that these are the machine's.
#include "lang/calls/call_sites.h"

#include "codegen/strips/compile/sized.h"
#include "driver/session/session.h"
#include "driver/values/text.h"
#include "interp/interpret.h"
#include "lang/calls/same_value.h"
#include "stdlib/ops.h"
#include "vm/bytecode/run.h"

#include <catch2/catch.hpp>

using lang::CallCode, lang::CodeCache, lang::CodeKey;

namespace {

/// How often the relation and the expression of the row that is watched were asked for.
size_t relationCalls = 0, computeCalls = 0;
const lang::OperatorRow* watched = nullptr;

lang::RelationResult countRelation(const lang::RelationCall& call) {
  ++relationCalls;
  return watched->relation(call);
}

void countCompute(lang::ComputeCall& call) {
  ++computeCalls;
  watched->compute(call);
}

/// What a run of `@main` gave, and what was made for it.
struct Counts {
  std::string value;
  size_t relations = 0, expressions = 0, kernels = 0;
};

/// Runs a text; counts what the row of that name is asked while it runs, and the kernels of all
/// rows.
Counts runCounted(const std::string& text, std::string_view name) {
  std::vector<lang::OperatorRow> rows;
  for (const lang::OperatorRow* row : stdlib::operatorTable().all())
    rows.push_back(*row);
  auto& row = *std::ranges::find(rows, name, &lang::OperatorRow::name);
  watched = stdlib::operatorTable().find(name);
  row.relation = countRelation;
  row.compute = countCompute;
  lang::OperatorFamily family(rows);
  lang::OperatorTable table({&family, 1});
  driver::Session session(table);
  auto loaded = session.loadText("test", "#[version = \"0.0.5\"]\n" + text);
  REQUIRE(loaded);
  for (const lang::Diagnostic& item : loaded->diagnostics.all())
    UNSCOPED_INFO(item.text.plain());
  REQUIRE(loaded->isGood());
  Counts counts;
  tensor::TensorEngine engine{.makeKernel = [&](const auto& function, auto programs) {
    ++counts.kernels;
    return strips::makeKernel(function, programs);
  }};
  relationCalls = computeCalls = 0;
  auto value = interp::interpret(*loaded->module, loaded->typing, table,
                                 *loaded->module->find("main"), {}, {.engine = engine});
  counts.relations = relationCalls;
  counts.expressions = computeCalls;
  auto* fault = std::get_if<interp::Fault>(&value);
  counts.value =
      fault ? "fault: " + fault->problem.plain()
            : driver::valueText(std::get<runtime::Value>(value), session.types(), loaded->typing);
  return counts;
}

/// A loop that runs `body`, which makes a float32 of a vector `%x` of `%n` elements, for many
/// sizes.
std::string loopOver(const std::string& body) {
  return "def @loop(%n: int32, %sum: float32) -> float32 { if (%n == 0) { %sum } else { "
         "let %x = arange(0f, cast(%n, dtype=\"float32\"), 1f, dtype=\"float32\"); "
         "@loop(%n - 1, %sum + " +
         body + ") } } def @main() { @loop(200, 0f) }";
}

} // namespace

TEST_CASE("a site has one expression and one kernel for all sizes", "[call_sites]") {
  Counts counts = runCounted(loopOver("max(multiply(%x, %x))"), "multiply");
  CHECK(counts.value == "2646700f");
  CHECK(counts.expressions == 1);
  CHECK(counts.relations < 20);
  CHECK(counts.kernels < 20);
}

TEST_CASE("sites of the same types share what is made of them", "[call_sites]") {
  std::string square = "multiply(%x, %x)", sum = square;
  for (int i = 0; i < 10; ++i)
    sum += " + " + square;
  Counts one = runCounted(loopOver("max(" + square + ")"), "multiply"),
         many = runCounted(loopOver("max(" + sum + ")"), "multiply");
  CHECK(many.expressions == one.expressions);
  CHECK(many.kernels == one.kernels + 1);
}

TEST_CASE("sites share what is made of types whatever names sizes have", "[call_sites]") {
  Counts counts = runCounted("def @f(%x: Tensor[(n, k), float32]) { multiply(%x, %x) } "
                             "def @g(%x: Tensor[(k, n), float32]) { multiply(%x, %x) } "
                             "def @h(%x: Tensor[(n, n), float32]) { multiply(%x, %x) } "
                             "def @main() { let %x = ones(shape=[3, 3], dtype=\"float32\"); "
                             "sum(@f(%x) + @g(%x) + @h(%x)) }",
                             "multiply");
  CHECK(counts.value == "27f");
  CHECK(counts.expressions == 2);
}

// How short a sum is decides in which order it is added up, where that is known.
TEST_CASE("sums over open sizes are those of the machine", "[call_sites]") {
  const std::string text =
      "def @waves(%n: int32) -> Tensor[(?), float32] { "
      "sin(arange(0f, cast(%n, dtype=\"float32\"), 1f, dtype=\"float32\")) }\n"
      "def @main() { let %n = NUMBER; "
      "let %x: Tensor[(2, ?), float32] = reshape(@waves(2 * %n), newshape=[2, -1]); "
      "let %w: Tensor[(5, ?), float32] = reshape(@waves(5 * %n), newshape=[5, -1]); "
      "nn.dense(%x, %w, units=5) }";
  for (int number = 1; number < 12; ++number) {
    std::string own = text;
    own.replace(own.find("NUMBER"), 6, std::to_string(number));
    driver::Session session(stdlib::operatorTable());
    auto loaded = session.loadText("test", "#[version = \"0.0.5\"]\n" + own);
    REQUIRE(loaded);
    REQUIRE(loaded->isGood());
    const lang::Global& entry = *loaded->module->find("main");
    auto interpreted = interp::interpret(*loaded->module, loaded->typing, session.operators(),
                                         entry, {}, {.engine = strips::stripsEngine()});
    auto run = bytecode::run(*loaded->module, loaded->typing, session.operators(), entry, {},
                             {.engine = strips::stripsEngine()});
    REQUIRE(std::holds_alternative<runtime::Value>(run));
    CHECK(lang::sameNumbers(std::get<runtime::Value>(interpreted), std::get<runtime::Value>(run)));
  }
}

TEST_CASE("sizes that must agree are told to be different by the relation", "[call_sites]") {
  std::string sizes = "multiply(%x, arange(0f, 5f, 1f, dtype=\"float32\"))";
  Counts counts = runCounted(loopOver("max(" + sizes + ")"), "multiply");
  CHECK(counts.value.find("fault: ") == 0);
  CHECK(counts.value.find("200") != std::string::npos);
}

TEST_CASE("code for shapes that hang on values is kept", "[call_sites]") {
  std::string text =
      "def @loop(%n: int32, %sum: float32, %x: Tensor[(6), float32], %to: Tensor[(2), int64]) { "
      "if (%n == 0) { %sum } else { "
      "@loop(%n - 1, %sum + max(dyn.reshape(%x, %to, newshape=None)), %x, %to) } } "
      "def @main() { @loop(100, 0f, ones(shape=[6], dtype=\"float32\"), "
      "cast([2, 3], dtype=\"int64\")) }";
  Counts counts = runCounted(text, "dyn.reshape");
  CHECK(counts.value == "100f");
  CHECK(counts.expressions == 1);
  CHECK(counts.kernels < 20);
}

TEST_CASE("code is forgotten by its size as well", "[call_sites]") {
  CodeCache cache;
  lang::OperatorRow row{};
  auto keyOf = [&](int64_t number) { return CodeKey{&row, {}, {number}}; };
  std::vector<std::weak_ptr<const CallCode>> made;
  for (int64_t number = 0; number < 8; ++number) {
    CallCode code{.key = keyOf(number)};
    code.exact.bytes = size_t(100) << 20;
    auto entry = std::make_shared<const CallCode>(std::move(code));
    made.push_back(entry);
    cache.add(std::move(entry), 1000, size_t(256) << 20);
  }
  auto alive = std::ranges::count_if(made, [](const auto& code) { return !code.expired(); });
  CHECK(alive == 2);
  CHECK(cache.find(keyOf(7)) != nullptr);
  CHECK(cache.find(keyOf(0)) == nullptr);
}
