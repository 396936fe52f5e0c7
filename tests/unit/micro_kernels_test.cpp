// Innermost loops of products keep what they sum in registers: one register too many, and a loop
// takes three times as long with the same results.
//
// Without LLVM there is nothing to test. Which loops are meant is read off the assembly: those with
// several multiply-adds that no other loop is inside of.
#include "codegen/llvm/module.h"
#include "codegen/native/native_code.h"
#include "lower/loops/choose.h"
#include "lower/loops/read.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <sstream>

namespace {

constexpr std::string_view products[] = {
    R"(kernel dense(x: float32[256, 512], w: float32[256, 512]) -> (y: float32[256, 256]) numbers reordered
  for i in 256
    for j in 256
      alloc a: float64[]
      a[] = float64(0)
      for r in 512
        a[] += float64(x[i, r] * w[j, r]) over r : 512
      y[i, j] = float32(a[])
)",
    R"(kernel matmul(x: float32[250, 1024], w: float32[1024, 300]) -> (y: float32[250, 300]) numbers reordered
  for i in 250
    for j in 300
      alloc a: float64[]
      a[] = float64(0)
      for r in 1024
        a[] += float64(x[i, r] * w[r, j]) over r : 1024
      y[i, j] = float32(a[])
)",
    R"(kernel open(x: float32[n, k], w: float32[m, k]) -> (y: float32[n, m]) numbers reordered
  size n
  size k
  size m
  for i in n
    for j in m
      alloc a: float64[]
      a[] = float64(0)
      for r in k
        a[] += float64(x[i, r] * w[j, r]) over r : k
      y[i, j] = float32(a[])
)",
    R"(kernel small_images(x: float32[2, 64, 7, 7], w: float32[96, 64, 3, 3]) -> (y: float32[2, 96, 7, 7]) numbers reordered
  for i in 2
    for j in 96
      for k in 7
        for l in 7
          alloc a: float64[]
          a[] = float64(0)
          for r in 64
            for r1 in 3
              for r2 in 3
                a[] += float64(x[i, r, k + r1 - 1, l + r2 - 1 else float32(0)] * w[j, r, r1, r2]) over r : 64, r1 : 3, r2 : 3
          y[i, j, k, l] = float32(a[])
)",
    R"(kernel wide_images(x: float32[1, 32, 56, 56], w: float32[64, 32, 3, 3]) -> (y: float32[1, 64, 28, 28]) numbers reordered
  for i in 1
    for j in 64
      for k in 28
        for l in 28
          alloc a: float64[]
          a[] = float64(0)
          for r in 32
            for r1 in 3
              for r2 in 3
                a[] += float64(x[i, r, k*2 + r1 - 1, l*2 + r2 - 1 else float32(0)] * w[j, r, r1, r2]) over r : 32, r1 : 3, r2 : 3
          y[i, j, k, l] = float32(a[])
)",
};

/// Loops without one inside: lines from a label to a jump back to it.
std::vector<std::vector<std::string>> innermostLoops(const std::string& assembly) {
  std::vector<std::vector<std::string>> loops;
  std::vector<std::string> lines;
  std::map<std::string, size_t> labels;
  std::istringstream text(assembly);
  size_t lastLoop = 0;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(line);
    if (line.starts_with(".L") && line.find(':') != line.npos)
      labels[line.substr(0, line.find(':'))] = lines.size();
    size_t at = line.find(".L");
    constexpr std::string_view jumps[] = {"\tj", "\tb", "\tcb", "\ttb"};
    bool isJump =
        std::ranges::any_of(jumps, [&](std::string_view jump) { return line.starts_with(jump); });
    if (!isJump || at == line.npos)
      continue;
    auto label = labels.find(line.substr(at, line.find_first_of(" \t#", at) - at));
    if (label == labels.end() || label->second < lastLoop)
      continue;
    loops.emplace_back(lines.begin() + ptrdiff_t(label->second), lines.end());
    lastLoop = lines.size();
  }
  return loops;
}

size_t count(const std::vector<std::string>& lines, std::string_view part) {
  return size_t(std::ranges::count_if(
      lines, [&](const std::string& line) { return line.find(part) != line.npos; }));
}

/// Comparisons of a counter with the end of an open loop.
size_t countEndsOnStack(const std::vector<std::string>& lines) {
  return size_t(std::ranges::count_if(lines, [](const std::string& line) {
    return line.starts_with("\tcmpq") && line.find("(%rsp") != line.npos;
  }));
}

/// The one at hand and others; their code is not run.
std::vector<codegen::Processor> processorsWithMultiplyAdd() {
  auto host = codegen::hostProcessor();
  if (!host)
    return {};
  return {*host, *codegen::targetNamed("x86-64-v3"), *codegen::targetNamed("x86-64-v4"),
          *codegen::targetNamed("aarch64")};
}

} // namespace

TEST_CASE("innermost loops of products touch no stack") {
  for (const codegen::Processor& processor : processorsWithMultiplyAdd()) {
    bool isWide = processor.registers() > 16;
    for (std::string_view product : products) {
      auto nest = loops::nestOf(std::string(product));
      REQUIRE(nest);
      loops::Nest chosen = loops::scheduled(*nest, codegen::modelOf(processor)).nest;
      auto module = codegen::moduleOf(chosen, codegen::targetOf(processor));
      REQUIRE(module);
      auto assembly = codegen::compiled(module->text(), processor, codegen::Output::Assembly);
      REQUIRE(assembly);
      INFO(processor.name << "\n" << loops::textOf(chosen));
      size_t most = 0;
      for (const std::vector<std::string>& loop : innermostLoops(*assembly)) {
        size_t products = count(loop, "vfmadd") + count(loop, "fmla");
        if (products < 4)
          continue;
        most = std::max(most, products);
        CHECK(count(loop, "(%rsp") == countEndsOnStack(loop));
      }
      // Two vectors by a row of seven points are the smallest tile of those.
      CHECK(most >= (isWide ? 14 : 8));
    }
  }
}
