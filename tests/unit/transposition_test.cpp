// Copies that turn elements around in registers give every element its place, whatever sticks out
// of whole squares, and touch no memory that is not theirs.
//
// Without LLVM there is nothing to test.
#include "codegen/llvm/module.h"
#include "codegen/native/native_code.h"
#include "lower/loops/choose.h"
#include "lower/loops/read.h"
#include "tests/harness/guarded_memory.h"
#include "tests/harness/processors.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace {

using codegen::Processor;

struct Sizes {
  int64_t rows, columns;
};

std::string kernelOf(std::string_view dtype, std::string_view rows, std::string_view columns,
                     std::string_view sizes) {
  return fmt::format("kernel turn(x: {0}[{1}, {2}]) -> (y: {0}[{2}, {1}]) numbers reordered\n{3}"
                     "  for i in {2}\n    for j in {1}\n      y[i, j] = x[j, i]\n",
                     dtype, rows, columns, sizes);
}

loops::Nest chosenFor(const Processor& processor, const std::string& text) {
  auto nest = loops::nestOf(text);
  REQUIRE(nest);
  return loops::scheduled(*nest, codegen::modelOf(processor)).nest;
}

std::shared_ptr<const codegen::CompiledNest> compiledFor(const Processor& processor,
                                                         const std::string& text) {
  auto compiled = codegen::compileNest(chosenFor(processor, text), processor);
  REQUIRE(compiled);
  return *compiled;
}

/// Turns a matrix whose elements are numbered.
template <typename Element>
void check(codegen::NativeRun run, Sizes of) {
  INFO(of.rows << " x " << of.columns);
  size_t count = size_t(of.rows * of.columns);
  for (bool endsAtGuard : {true, false}) {
    harness::GuardedMemory from(count * sizeof(Element), endsAtGuard),
        to(count * sizeof(Element), endsAtGuard);
    auto* read = reinterpret_cast<Element*>(from.bytes());
    auto* written = reinterpret_cast<Element*>(to.bytes());
    for (size_t i = 0; i < count; ++i)
      read[i] = Element(i + 1);
    std::fill_n(written, count, Element(0));
    std::vector<const std::byte*> inputs{from.bytes()};
    std::vector<std::byte*> outputs{to.bytes()};
    REQUIRE(run.run(inputs, outputs, 2));
    size_t wrong = 0;
    for (int64_t i = 0; i < of.rows; ++i)
      for (int64_t j = 0; j < of.columns; ++j)
        wrong += written[j * of.rows + i] != read[i * of.columns + j];
    CHECK(wrong == 0);
  }
}

template <typename Element>
void checkAll(const Processor& processor, std::string_view dtype) {
  auto open = compiledFor(processor, kernelOf(dtype, "n", "m", "  size n\n  size m\n"));
  for (int64_t rows : {1, 2, 8, 9, 16, 21, 33, 64})
    for (int64_t columns : {1, 3, 8, 15, 16, 34, 100})
      check<Element>({open, {rows, columns}}, {rows, columns});
  for (Sizes of : {Sizes{1, 40}, Sizes{32, 48}, Sizes{9, 15}, Sizes{33, 16}, Sizes{21, 34}}) {
    std::string text =
        kernelOf(dtype, fmt::format("{}", of.rows), fmt::format("{}", of.columns), "");
    check<Element>({compiledFor(processor, text), {}}, of);
  }
}

} // namespace

TEST_CASE("copies that turn elements around put each in its place") {
  for (const Processor& processor : harness::processorsAtHand()) {
    INFO(processor.name);
    checkAll<float>(processor, "float32");
    checkAll<int64_t>(processor, "int64");
  }
}

TEST_CASE("copies that turn elements around gather none") {
  for (const Processor& processor : harness::processorsAtHand()) {
    auto module = codegen::moduleOf(
        chosenFor(processor, kernelOf("float32", "48", "64", "")),
        codegen::targetOf(processor));
    REQUIRE(module);
    CHECK(module->text().find("gather") == std::string::npos);
    CHECK(module->text().find("shufflevector") != std::string::npos);
  }
}
