// Programs and engines: sums that do not depend on shapes, means of narrow types, and how much the
// machine remembers of the shapes that went by.
#include "codegen/strips/compile/sized.h"
#include "driver/session/session.h"
#include "driver/values/text.h"
#include "interp/interpret.h"
#include "interp/reference.h"
#include "lower/tensor/wrapped_kernel.h"
#include "stdlib/ops.h"

#include <catch2/catch.hpp>

using tensor::TensorEngine;

namespace {

/// What `@main` of a text returns, or its fault.
std::string valueOf(const std::string& text, const tensor::TensorEngine& engine) {
  driver::Session session(stdlib::operatorTable());
  auto loaded = session.loadText("test", "#[version = \"0.0.5\"]\n" + text);
  REQUIRE(loaded);
  for (const lang::Diagnostic& item : loaded->diagnostics.all())
    UNSCOPED_INFO(item.text.plain());
  REQUIRE(loaded->isGood());
  auto value = interp::interpret(*loaded->module, loaded->typing, session.operators(),
                                 *loaded->module->find("main"), {}, {.engine = engine});
  if (auto* fault = std::get_if<interp::Fault>(&value))
    return "fault: " + fault->problem.plain();
  return driver::valueText(std::get<runtime::Value>(value), session.types(), loaded->typing);
}

void checkBoth(const std::string& text, const std::string& expected) {
  INFO(text);
  CHECK(valueOf("def @main() { " + text + " }", strips::stripsEngine()) == expected);
  CHECK(valueOf("def @main() { " + text + " }", interp::referenceEngine()) == expected);
}

/// The loops engine with a count of the codes that are alive, and the most that there were.
tensor::TensorEngine countingEngine(const std::shared_ptr<int>& token, long& most) {
  auto around = [token, &most](const auto&, auto) {
    tensor::AroundRun run = [token](runtime::KernelCode& code, auto inputs, auto outputs) {
      return code.run(inputs, outputs);
    };
    most = std::max(most, token.use_count());
    return run;
  };
  return {.makeKernel = tensor::wrapped(strips::makeKernel, around)};
}

} // namespace

TEST_CASE("sums of products do not depend on the number of rows and columns", "[engines]") {
  for (std::string rows : {"1", "3", "4", "12"}) {
    std::string text = "def @main() { let %x = full(0.1f, shape=[" + rows +
                       ", 2000000], dtype=\"float32\"); let %y = nn.dense(%x, full(0.1f, shape=[4, "
                       "2000000], dtype=\"float32\"), units=4); "
                       "(less(max(abs(%y - 20000.002f)), 0.005f), "
                       "equal(max(%y), min(%y))) }";
    INFO(rows);
    CHECK(valueOf(text, strips::stripsEngine()) == "(True, True)");
  }
}

TEST_CASE("of zeros the positive one is larger, in any order", "[engines]") {
  const std::string grid = "[[-0f, 0f, -0f], [0f, -0f, -0f]]";
  const std::string many = "concatenate((full(-0f, shape=[20], dtype=\"float32\"), [0f], "
                           "full(-0f, shape=[16], dtype=\"float32\")), axis=0)";
  for (std::string zeros : {"[-0f, 0f]", "[0f, -0f]", "[-0f, 0f, -0f]"}) {
    checkBoth("max(" + zeros + ")", "0f");
    checkBoth("min(" + zeros + ")", "-0f");
  }
  checkBoth("max([-0f, -0f])", "-0f");
  checkBoth("min([0f, 0f])", "0f");
  checkBoth("(max(" + grid + "), min(negative(" + grid + ")))", "(0f, -0f)");
  checkBoth("(max(" + many + "), min(negative(" + many + ")))", "(0f, -0f)");
  for (std::string dtype : {"float16", "float64"})
    checkBoth("1f / cast(max(cast(" + many + ", dtype=\"" + dtype + "\")), dtype=\"float32\")",
              "inff");
  checkBoth("(maximum(-0f, 0f), maximum(0f, -0f), minimum(-0f, 0f), minimum(0f, -0f))",
            "(0f, 0f, -0f, -0f)");
}

TEST_CASE("means of narrow types neither overflow nor wrap", "[engines]") {
  checkBoth("mean(ones(shape=[70000], dtype=\"float16\"))", "1f16");
  checkBoth("mean(ones(shape=[256], dtype=\"uint8\"))", "cast(1, dtype=\"uint8\")");
  auto full = [](std::string value, std::string shape, std::string dtype) {
    return "cast(full(" + value + ", shape=" + shape + ", dtype=\"float32\"), dtype=\"" + dtype +
           "\")";
  };
  checkBoth("mean(" + full("100f", "[300]", "int8") + ")", "cast(100, dtype=\"int8\")");
  checkBoth("mean(" + full("3e+38f", "[4]", "float32") + ")", "3e+38f");
  checkBoth("sum(nn.softmax(" + full("0f", "[70000]", "float16") + "))", "1.001f16");
  checkBoth("nn.avg_pool2d(" + full("200f", "[1, 1, 20, 20]", "uint8") + ", pool_size=[20, 20])",
            "cast([[[[200]]]], dtype=\"uint8\") /* ty=Tensor[(1, 1, 1, 1), uint8] */");
}

TEST_CASE("a thousand shapes are not all remembered", "[engines]") {
  const std::string text =
      "def @loop(%n: int32, %sum: float32) -> float32 { if (%n == 0) { %sum } else { "
      "let %x = arange(0f, cast(%n, dtype=\"float32\"), 1f, dtype=\"float32\"); "
      "@loop(%n - 1, %sum + max(%x * %x - %x)) } } "
      "def @main() { @loop(SHAPES, 0f) }";
  auto mostAlive = [&](const std::string& shapes) {
    auto token = std::make_shared<int>(0);
    long most = 0;
    std::string own = text;
    own.replace(own.find("SHAPES"), 6, shapes);
    CHECK(valueOf(own, countingEngine(token, most)).ends_with("f"));
    CHECK(token.use_count() == 1);
    return most;
  };
  long few = mostAlive("100"), many = mostAlive("1000");
  CHECK(many <= few + 8);
  CHECK(many < 200);
}
