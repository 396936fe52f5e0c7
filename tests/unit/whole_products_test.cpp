// Sums of products of whole numbers by instructions that take several at once are exact: for all
// pairs of bytes, where sums wrap, and whatever is left over of groups, lanes and tiles.
//
// Without LLVM there is nothing to test.
#include "codegen/native/native_code.h"
#include "lower/loops/choose.h"
#include "lower/loops/read.h"
#include "lower/loops/verify.h"
#include "tests/harness/guarded_memory.h"
#include "tests/harness/processors.h"
#include "tests/harness/random_schedule.h"
#include "tests/harness/run_nest.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <fmt/format.h>
#include <map>

using loops::Nest;
using runtime::Value;

namespace {

struct Types {
  std::string_view left, right;
};

constexpr Types allTypes[] = {{"int8", "int8"},   {"uint8", "int8"},  {"int8", "uint8"},
                              {"uint8", "uint8"}, {"int16", "int16"}, {"int16", "uint8"}};

Nest nestFrom(const std::string& text) {
  auto nest = loops::nestOf(text);
  INFO(text);
  REQUIRE((nest ? "" : nest.failure().text) == "");
  return *std::move(nest);
}

/// Columns lie along the sum, as weights of dense layers do, or across it.
std::string productText(const Types& types, int64_t rows, int64_t columns, int64_t products,
                        bool isAlongSum) {
  return fmt::format("kernel product(x: {3}[{0}, {2}], w: {4}[{5}]) -> (y: int32[{0}, {1}]) "
                     "numbers reordered\n  for i in {0}\n    for j in {1}\n      alloc a: int64[]\n"
                     "      a[] = int64(0)\n      for r in {2}\n"
                     "        a[] += int64(int32(x[i, r]) * int32(w[{6}])) over r : {2}\n"
                     "      y[i, j] = int32(a[])\n",
                     rows, columns, products, types.left, types.right,
                     isAlongSum ? fmt::format("{}, {}", columns, products)
                                : fmt::format("{}, {}", products, columns),
                     isAlongSum ? "j, r" : "r, j");
}

std::string denseText(const Types& types, int64_t rows, int64_t columns, int64_t products) {
  return productText(types, rows, columns, products, true);
}

struct Picture {
  int64_t batch, channels, side, filters, window, stride;
};

std::string convolutionText(const Types& types, const Picture& of) {
  int64_t before = of.window / 2, side = (of.side + 2 * before - of.window) / of.stride + 1;
  return fmt::format(
      "kernel conv(x: {6}[{0}, {1}, {2}, {2}], w: {7}[{3}, {1}, {4}, {4}]) -> (y: int32[{0}, {3}, "
      "{8}, {8}]) numbers reordered\n  for i in {0}\n    for j in {3}\n      for k in {8}\n"
      "        for l in {8}\n          alloc a: int64[]\n          a[] = int64(0)\n"
      "          for r in {1}\n            for r1 in {4}\n              for r2 in {4}\n"
      "                a[] += int64(int32(x[i, r, k*{5} + r1 - {9}, l*{5} + r2 - {9} else {6}(0)])"
      " * int32(w[j, r, r1, r2])) over r : {1}, r1 : {4}, r2 : {4}\n"
      "          y[i, j, k, l] = int32(a[])\n",
      of.batch, of.channels, of.side, of.filters, of.window, of.stride, types.left, types.right,
      side, before);
}

/// Bytes without a pattern that products could share, or the extremes of signed numbers by turns.
Value valueOf(const Nest& nest, const loops::Buffer& buffer, uint64_t seed, bool isExtreme) {
  runtime::Shape shape;
  for (loops::Form extent : buffer.extents)
    shape.push_back(*nest.table.constantOf(extent));
  runtime::Tensor tensor(buffer.dtype, shape);
  size_t width = buffer.dtype.bytes();
  for (size_t i = 0; i < tensor.byteSize(); ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    bool isTop = i % width == width - 1;
    auto extreme = uint8_t(isTop ? (seed >> 60 == 0 ? 0x7f : 0x80) : (seed >> 60 == 0 ? 0xff : 0));
    tensor.bytes()[i] = std::byte(isExtreme ? extreme : uint8_t(seed >> 56));
  }
  return runtime::tensorValue(std::move(tensor));
}

std::vector<Value> inputsOf(const Nest& nest, bool isExtreme) {
  std::vector<Value> inputs;
  for (const loops::Buffer& buffer : nest.buffers)
    if (buffer.space == loops::Space::Input)
      inputs.push_back(valueOf(nest, buffer, inputs.size() * 77 + 5, isExtreme));
  return inputs;
}

/// What machine code gives, with each buffer at a page that may not be touched.
std::vector<std::byte> nativeResult(const Nest& chosen, const codegen::Processor& processor,
                                    std::span<const Value> inputs, size_t bytes) {
  auto compiled = codegen::compileNest(chosen, processor);
  REQUIRE(compiled);
  std::vector<harness::GuardedMemory> memory;
  std::vector<const std::byte*> pointers;
  for (const Value& input : inputs) {
    memory.emplace_back(input.tensor().byteSize(), true);
    std::memcpy(memory.back().bytes(), input.tensor().bytes(), input.tensor().byteSize());
    pointers.push_back(memory.back().bytes());
  }
  harness::GuardedMemory result(bytes, true);
  std::vector<std::byte*> outputs{result.bytes()};
  codegen::NativeRun run(*compiled, {});
  REQUIRE(run.run(pointers, outputs, 2));
  return {result.bytes(), result.bytes() + bytes};
}

bool hasGroups(const Nest& nest) {
  return loops::textOf(nest).find("group") != std::string::npos;
}

/// Whether what is chosen for a nest is good and exact.
void check(const std::string& text, const codegen::Processor& processor, bool isGrouped) {
  Nest nest = nestFrom(text);
  Nest chosen = loops::scheduled(nest, codegen::modelOf(processor)).nest;
  INFO(processor.name << "\n" << loops::textOf(chosen));
  CHECK(loops::problemOf(chosen) == "");
  CHECK((!isGrouped || hasGroups(chosen)));
  auto again = loops::nestOf(loops::textOf(chosen));
  REQUIRE(again);
  CHECK(loops::textOf(*again) == loops::textOf(chosen));
  for (bool isExtreme : {false, true}) {
    std::vector<Value> inputs = inputsOf(nest, isExtreme);
    harness::NestRun run = harness::runNest(nest, {}, inputs);
    const runtime::Tensor& wanted = run.results[0].tensor();
    std::vector<std::byte> made = nativeResult(chosen, processor, inputs, wanted.byteSize());
    CHECK(std::memcmp(made.data(), wanted.bytes(), made.size()) == 0);
  }
}

} // namespace

TEST_CASE("products of whole numbers are exact, in groups where there are instructions") {
  for (const codegen::Processor& processor : harness::processorsAtHand())
    for (const Types& types : allTypes) {
      bool isGrouped = processor.wholeProducts() != loops::WholeProducts::None;
      check(denseText(types, 13, 17, 23), processor, isGrouped);
      check(productText(types, 16, 35, 18, false), processor, isGrouped);
      check(convolutionText(types, {1, 8, 6, 9, 3, 1}), processor, isGrouped);
    }
}

TEST_CASE("convolutions of whole numbers are exact") {
  for (const codegen::Processor& processor : harness::processorsAtHand())
    for (const Types& types : {allTypes[0], allTypes[1]}) {
      bool isGrouped = processor.wholeProducts() != loops::WholeProducts::None;
      check(convolutionText(types, {2, 3, 8, 9, 3, 1}), processor, isGrouped);
      check(convolutionText(types, {1, 6, 9, 10, 3, 2}), processor, isGrouped);
      check(convolutionText(types, {1, 12, 7, 16, 1, 1}), processor, isGrouped);
    }
}

TEST_CASE("products of whole numbers are exact where little is left of loops") {
  for (const codegen::Processor& processor : harness::processorsAtHand())
    for (auto [rows, columns, products] :
         {std::tuple(1, 1, 1), std::tuple(8, 1, 4), std::tuple(9, 2, 1), std::tuple(15, 3, 5),
          std::tuple(8, 64, 3), std::tuple(29, 65, 2), std::tuple(7, 33, 9)})
      for (const Types& types : {allTypes[0], allTypes[1], allTypes[4]})
        check(denseText(types, rows, columns, products), processor, false);
}

TEST_CASE("products of bytes are instructions that take several at once") {
  struct Expected {
    std::string_view level, more, instruction;
  };
  if (!codegen::hostProcessor())
    return;
  for (const Expected& each :
       {Expected{"x86-64-v4", ",+avx512vnni", "vpdpbusd"}, Expected{"x86-64-v4", "", "vpmaddwd"},
        Expected{"x86-64-v3", ",+avxvnni", "vpdpbusd"}, Expected{"x86-64-v3", "", "vpmaddwd"},
        Expected{"x86-64-v2", "", "pmaddwd"}}) {
    codegen::Processor processor = *codegen::targetNamed(each.level);
    processor.features += each.more;
    for (const std::string& text : {denseText(allTypes[0], 24, 128, 128),
                                    convolutionText(allTypes[0], {1, 16, 16, 24, 3, 1})}) {
      Nest chosen = loops::scheduled(nestFrom(text), codegen::modelOf(processor)).nest;
      auto module = codegen::moduleOf(chosen, codegen::targetOf(processor));
      REQUIRE(module);
      auto assembly = codegen::compiled(module->text(), processor, codegen::Output::Assembly);
      INFO(each.level << each.more);
      REQUIRE(assembly);
      CHECK(assembly->find(each.instruction) != std::string::npos);
      CHECK(assembly->find("pmulld") == std::string::npos);
    }
  }
}

TEST_CASE("every pair of bytes is multiplied exactly") {
  constexpr int64_t bytes = 256;
  for (const codegen::Processor& processor : harness::processorsAtHand())
    for (const Types& types : std::span(allTypes).first(4)) {
      // Row i holds the byte i at one place, column j the byte j, and 0 elsewhere.
      Nest nest = nestFrom(denseText(types, bytes, bytes, 4));
      Nest chosen = loops::scheduled(nest, codegen::modelOf(processor)).nest;
      std::vector<Value> inputs = inputsOf(nest, false);
      for (Value& input : inputs) {
        runtime::Tensor tensor(input.tensor().dtype(), input.tensor().shape());
        std::memset(tensor.bytes(), 0, tensor.byteSize());
        for (int64_t i = 0; i < bytes; ++i)
          tensor.bytes()[i * 4 + 2] = std::byte(i);
        input = runtime::tensorValue(std::move(tensor));
      }
      size_t size = size_t(bytes * bytes) * sizeof(int32_t);
      std::vector<std::byte> made = nativeResult(chosen, processor, inputs, size);
      auto valueOfByte = [](std::string_view type, int64_t i) {
        return type == "int8" ? int32_t(int8_t(i)) : int32_t(uint8_t(i));
      };
      size_t wrong = 0;
      for (int64_t i = 0; i < bytes; ++i)
        for (int64_t j = 0; j < bytes; ++j) {
          int32_t value;
          std::memcpy(&value, made.data() + size_t(i * bytes + j) * sizeof(value), sizeof(value));
          wrong += value != valueOfByte(types.left, i) * valueOfByte(types.right, j);
        }
      INFO(processor.name << " " << types.left << " " << types.right);
      CHECK(wrong == 0);
    }
}

TEST_CASE("random schedules never change what a product of bytes gives") {
  auto product = [](std::string_view what) {
    return nestFrom(fmt::format(
        "kernel bytes(x: uint8[5, 6], w: int8[4, 6], p: int32[], q: int32[]) -> (y: int32[5, 4]) "
        "numbers reordered\n  for i in 5\n    for j in 4\n      alloc a: int32[]\n"
        "      a[] = int32(0)\n      for r in 6\n        a[] += {} over r : 6\n"
        "      y[i, j] = a[]\n",
        what));
  };
  const Nest firsts[] = {product("(int32(x[i, r]) - p[]) * (int32(w[j, r]) - q[])"),
                         product("int32(x[i, r]) * int32(w[j, r])")};
  std::map<std::string, size_t> applied;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    harness::Random random(harness::mixSeed(Catch::rngSeed(), seed));
    const Nest& first = firsts[seed % 2];
    std::vector<Value> inputs = inputsOf(first, false);
    const Value wanted = harness::runNest(first, {}, inputs).results[0];
    const auto [nest, steps, schedule] = harness::drawSchedule(first, 30, random);
    for (const loops::Step& step : steps)
      ++applied[step.rewrite];
    INFO(schedule << "made\n" << loops::textOf(nest));
    Value made = harness::runNest(nest, {}, inputs).results[0];
    CHECK(std::memcmp(made.tensor().bytes(), wanted.tensor().bytes(), made.tensor().byteSize()) ==
          0);
  }
  for (const char* rewrite : {"bias", "distribute", "keep", "round-up", "group", "interleave"}) {
    INFO(rewrite);
    CHECK(applied[rewrite] > 0);
  }
}
