// Products of few rows read what belongs to columns once, and give what sums in order give,
// whatever is left over of lanes and lines.
//
// Without LLVM there is nothing to test.
#include "codegen/native/native_code.h"
#include "lower/loops/choose.h"
#include "lower/loops/read.h"
#include "tests/harness/guarded_memory.h"
#include "tests/harness/processors.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace {

struct Product {
  int64_t rows, columns, products;
  /// Whether columns lie along the sum, as weights of dense layers do.
  bool isAlongSum;
};

std::string textOf(const Product& of) {
  return fmt::format(
      "kernel few(x: float32[{0}, {2}], w: float32[{3}]) -> (y: float32[{0}, {1}]) "
      "numbers reordered\n  for i in {0}\n    for j in {1}\n      alloc a: float64[]\n"
      "      a[] = float64(0)\n      for r in {2}\n"
      "        a[] += float64(x[i, r] * w[{4}]) over r : {2}\n"
      "      y[i, j] = float32(a[])\n",
      of.rows, of.columns, of.products,
      of.isAlongSum ? fmt::format("{}, {}", of.columns, of.products)
                    : fmt::format("{}, {}", of.products, of.columns),
      of.isAlongSum ? "j, r" : "r, j");
}

/// Small whole numbers, so that sums are exact in any order.
float numberAt(int64_t i) {
  return float((i * 7) % 11 - 5);
}

void check(const codegen::Processor& processor, const Product& of, const loops::Nest& chosen) {
  auto compiled = codegen::compileNest(chosen, processor);
  REQUIRE(compiled);
  auto bytes = [](int64_t count) { return size_t(count) * sizeof(float); };
  harness::GuardedMemory x(bytes(of.rows * of.products), true),
      w(bytes(of.columns * of.products), true), y(bytes(of.rows * of.columns), true);
  auto *left = reinterpret_cast<float*>(x.bytes()), *right = reinterpret_cast<float*>(w.bytes());
  for (int64_t i = 0; i < of.rows * of.products; ++i)
    left[i] = numberAt(i);
  for (int64_t i = 0; i < of.columns * of.products; ++i)
    right[i] = numberAt(i + 3);
  std::vector<const std::byte*> inputs{x.bytes(), w.bytes()};
  std::vector<std::byte*> outputs{y.bytes()};
  codegen::NativeRun run(*compiled, {});
  REQUIRE(run.run(inputs, outputs, 2));
  size_t wrong = 0;
  for (int64_t i = 0; i < of.rows; ++i)
    for (int64_t j = 0; j < of.columns; ++j) {
      float sum = 0;
      for (int64_t r = 0; r < of.products; ++r)
        sum += left[i * of.products + r] *
               right[of.isAlongSum ? j * of.products + r : r * of.columns + j];
      wrong += sum != reinterpret_cast<const float*>(y.bytes())[i * of.columns + j];
    }
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE("products of few rows are right and share what they read") {
  constexpr Product products[] = {{1, 600, 71, false}, {1, 1024, 64, false}, {1, 513, 200, false},
                                  {1, 40, 130, true},  {2, 40, 256, true},   {3, 33, 300, true},
                                  {5, 20, 77, true},   {7, 9, 129, true},
                                  {8, 40, 256, true},  {9, 11, 130, true},  {11, 40, 77, true}};
  for (const codegen::Processor& processor : harness::processorsAtHand())
    for (const Product& of : products) {
      auto nest = loops::nestOf(textOf(of));
      REQUIRE(nest);
      loops::Nest chosen = loops::scheduled(*nest, codegen::modelOf(processor)).nest;
      std::string text = loops::textOf(chosen);
      INFO(processor.name << "\n" << text);
      // Rows, and lines of columns, are written out where the sum runs.
      bool isShared = of.rows > 1 || !of.isAlongSum;
      CHECK((text.find("unroll") != std::string::npos) == isShared);
      check(processor, of, chosen);
    }
}
