// Classes of sizes: how few plans kernels over open extents need, and that a plan is given no sizes
// for which another one would be made.
#include "codegen/strips/compile/sized.h"
#include "codegen/strips/kernel.h"
#include "driver/session/session.h"
#include "stdlib/ops.h"
#include "vm/bytecode/compile.h"
#include "vm/machine/kernel.h"

#include <catch2/catch.hpp>
#include <functional>

using runtime::Shape;
using Shapes = std::vector<Shape>;

namespace {

/// The only kernel of `fn (parameters) { body }`.
class OneKernel {
public:
  OneKernel(const std::string& parameters, const std::string& body)
      : program_(
            loaded("#[version = \"0.0.5\"]\ndef @main(" + parameters + ") { " + body + " }\n")),
        compiled_(bytecode::compile(*program_.module, program_.typing, session_.operators(),
                                    std::array{program_.module->find("main")})),
        kernel_(site().function, {}, strips::programMaker(loops::Numbers::Reordered)) {}

  /// The extents of a run, with those of the results as the site knows them.
  runtime::KernelCode& codeFor(const Shapes& inputs) {
    std::vector<int64_t> extents, found(site().shapes.results.size());
    for (const Shape& shape : inputs)
      extents.insert(extents.end(), shape.begin(), shape.end());
    REQUIRE(checks::findResults(site().shapes, extents, found));
    extents.insert(extents.end(), found.begin(), found.end());
    return kernel_.codeFor(extents);
  }
  strips::ProgramKernel& kernel() { return kernel_; }
  size_t plansMade() const { return kernel_.programsMade(); }

private:
  driver::Program loaded(const std::string& text) {
    auto program = session_.loadText("test", text);
    INFO(text);
    REQUIRE(program);
    REQUIRE(program->isGood());
    return *std::move(program);
  }

  const vm::KernelSite& site() const {
    REQUIRE(compiled_->program.kernels.size() == 1);
    return compiled_->program.kernels.front();
  }

  driver::Session session_{stdlib::operatorTable()};
  driver::Program program_;
  std::unique_ptr<bytecode::Compiled> compiled_;
  strips::ProgramKernel kernel_;
};

/// Plans for inputs whose shapes follow from two numbers: for each from 2 to 40 with the other one
/// fixed, then with both the same, then for both apart from each other.
size_t plansFor(const std::string& parameters, const std::string& body,
                const std::function<Shapes(int64_t, int64_t)>& shapes) {
  OneKernel kernel(parameters, body);
  for (int64_t n = 2; n <= 40; ++n)
    for (auto [first, second] : {std::pair(n, int64_t(24)), std::pair(n, n), std::pair(n, 42 - n)})
      if (second >= 2)
        REQUIRE(kernel.codeFor(shapes(first, second)).problem() == nullptr);
  return kernel.plansMade();
}

constexpr const char* matrix = "%x: Tensor[(n, m), float32]";
constexpr const char* matrices = "%x: Tensor[(n, m), float32], %y: Tensor[(n, m), float32]";
constexpr const char* withRow = "%x: Tensor[(n, m), float32], %y: Tensor[(m), float32]";
constexpr const char* images = "%x: Tensor[(n, 3, m, m), float32]";

Shapes ofMatrix(int64_t n, int64_t m) {
  return {{n, m}};
}
Shapes ofImages(int64_t n, int64_t m) {
  return {{n, 3, m, m}};
}

} // namespace

// Sizes that are not known to be equal are of one class with those that are.
TEST_CASE("sizes from two to forty have few plans", "[plans]") {
  CHECK(plansFor(matrices, "%x + %y", [](int64_t n, int64_t m) {
          return Shapes{{n, m}, {n, m}};
        }) == 1);
  CHECK(plansFor(matrix, "exp(%x)", ofMatrix) == 1);
  CHECK(plansFor(matrix, "sum(%x)", ofMatrix) == 1);
  CHECK(plansFor(matrix, "cumsum(%x, axis=0)", ofMatrix) == 1);
  CHECK(plansFor(withRow, "%x + %y", [](int64_t n, int64_t m) {
          return Shapes{{n, m}, {m}};
        }) == 1);
  CHECK(plansFor(matrix, "transpose(%x, axes=[1, 0])", ofMatrix) == 1);
  CHECK(plansFor(matrix, "sum(%x, axis=[1])", ofMatrix) == 1);
  CHECK(plansFor(matrix, "sum(%x, axis=[0])", ofMatrix) == 1);
  CHECK(plansFor(matrix, "mean(%x, axis=[1])", ofMatrix) == 1);
  CHECK(plansFor(matrix, "argmax(%x, axis=[1])", ofMatrix) == 1);
  CHECK(plansFor(matrix, "nn.softmax(%x)", ofMatrix) == 1);
  CHECK(plansFor(matrix, "strided_slice(%x, begin=[0], end=[2], strides=[1], axes=[0])",
                 ofMatrix) == 1);
  CHECK(plansFor(matrix, "nn.pad(%x, 0f, pad_width=[[1, 1], [0, 2]])", [](int64_t n, int64_t m) {
          return Shapes{{n, m}, {}};
        }) == 1);
  CHECK(plansFor("%x: Tensor[(n, m), float32], %y: Tensor[(k, m), float32]",
                 "concatenate((%x, %y), axis=0)", [](int64_t n, int64_t m) {
                   return Shapes{{n, m}, {3, m}};
                 }) == 1);
  CHECK(plansFor("%x: Tensor[(n, m), float32], %i: Tensor[(k), int64]", "take(%x, %i, axis=0)",
                 [](int64_t n, int64_t m) {
                   return Shapes{{n, m}, {n + 1}};
                 }) == 1);
}

TEST_CASE("sums of products and windows have few plans", "[plans]") {
  CHECK(plansFor("%x: Tensor[(n, 64), float32], %w: Tensor[(32, 64), float32]",
                 "nn.dense(%x, %w, units=None)", [](int64_t n, int64_t) {
                   return Shapes{{n, 64}, {32, 64}};
                 }) == 1);
  CHECK(plansFor("%x: Tensor[(b, n, m), float32], %y: Tensor[(b, k, m), float32]",
                 "nn.batch_matmul(%x, %y, transpose_b=True)", [](int64_t n, int64_t m) {
                   return Shapes{{2, n, m}, {2, n, m}};
                 }) == 2);
  CHECK(plansFor("%x: Tensor[(n, 3, m, m), float32], %w: Tensor[(8, 3, 3, 3), float32]",
                 "nn.conv2d(%x, %w, padding=[1, 1])", [](int64_t n, int64_t m) {
                   return Shapes{{n, 3, m, m}, {8, 3, 3, 3}};
                 }) == 1);
  CHECK(plansFor(images, "nn.max_pool2d(%x, pool_size=[2, 2])", ofImages) == 3);
  CHECK(plansFor("%x: Tensor[(n, m), float32], %g: Tensor[(m), float32], "
                 "%b: Tensor[(m), float32]",
                 "nn.layer_norm(%x, %g, %b)", [](int64_t n, int64_t m) {
                   return Shapes{{n, m}, {m}, {m}};
                 }) == 1);
}

TEST_CASE("a plan is given no sizes of another class", "[plans]") {
  OneKernel kernel(withRow, "%x + %y");
  auto plansWith = [&](int64_t n, int64_t m) {
    runtime::KernelCode& code = kernel.codeFor({{n, m}, {m}});
    REQUIRE(code.problem() == nullptr);
    CHECK(*code.results()[0].shape == Shape{n, m});
    CHECK(code.results()[0].size == n * m);
    return kernel.plansMade();
  };
  CHECK(plansWith(3, 5) == 1);
  CHECK(plansWith(4, 9) == 1);
  CHECK(plansWith(1, 5) == 2);
  CHECK(plansWith(3, 1) == 3);
  CHECK(plansWith(1, 1) == 4);
  CHECK(plansWith(0, 5) == 5);
  CHECK(plansWith(0, 7) == 5);
  CHECK(plansWith(5, 0) == 6);
  CHECK(plansWith(1, 14) == 6);
  CHECK(plansWith(15, 15) == 6);
  CHECK(plansWith(16, 15) == 6);
}

TEST_CASE("sizes whose elements cannot be counted have no plan", "[plans]") {
  constexpr int64_t large = int64_t(1) << 40;
  OneKernel kernel(matrix, "exp(%x)");
  CHECK(kernel.codeFor({{2, 3}}).problem() == nullptr);
  const runtime::Fault* problem = kernel.codeFor({{large, large}}).problem();
  REQUIRE(problem);
  CHECK(problem->kind == runtime::FaultKind::Memory);
  CHECK(kernel.codeFor({{large, 3}}).problem() == nullptr);
  CHECK(kernel.codeFor({{4, 3}}).problem() == nullptr);
}

TEST_CASE("a kernel refuses shapes that its function is not for", "[plans]") {
  OneKernel kernel("%x: Tensor[(n, 4), float32], %y: Tensor[(n, 4), float32]", "%x + %y");
  auto problemOf = [&](const std::vector<int64_t>& extents) {
    const runtime::Fault* problem = kernel.kernel().codeFor(extents).problem();
    return problem ? problem->problem.plain() : "";
  };
  CHECK(problemOf({3, 4, 3, 4, 3, 4}) == "");
  CHECK(problemOf({7, 4, 7, 4, 7, 4}) == "");
  CHECK(problemOf({3, 5, 3, 5, 3, 5}) == "a kernel is for other shapes");
  CHECK(problemOf({3, 4, 3, 4, 3}) == "a kernel is for other shapes");
}

TEST_CASE("a thousand sizes leave few plans behind", "[plans]") {
  OneKernel kernel(withRow, "%x + %y");
  for (int64_t i = 0; i < 1000; ++i)
    kernel.codeFor({{i % 50, i / 50}, {i / 50}});
  CHECK(kernel.plansMade() == 10);
}
