// Two loops in machine code: multiply-adds on registers alone, and a[i] = b[i] + s c[i], whose
// stores pass caches by where the arrays fit into none. Each thread takes a part and goes through
// it often, so that a part stays in the caches of one core; the best of several rounds counts.
#include "codegen/native/roof.h"

#include "codegen/llvm/library.h"
#include "codegen/llvm/object.h"
#include "runtime/pool.h"
#include "runtime/threads.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fmt/format.h>

namespace codegen {

namespace {

using runtime::Result;

/// Sums that are in flight at once: more than a processor has multiply-adds in flight, fewer than
/// the fewest registers that one has.
constexpr size_t sums = 12;
constexpr double secondsOfRound = 1.5e-3;
constexpr int rounds = 5;

/// Each sum starts with a value of its own: equal ones would be one sum for the compiler.
std::string multiplyAddsText(uint32_t lanes) {
  std::string vector = fmt::format("<{} x float>", lanes), places, starts, steps, last;
  for (size_t i = 0; i < sums; ++i) {
    places += fmt::format("  %p{0} = getelementptr {1}, ptr %room, i64 {2}\n"
                          "  %f{0} = load {1}, ptr %p{0}, align 4\n",
                          i, vector, i + 1);
    starts += fmt::format("  %s{0} = phi {1} [ %f{0}, %entry ], [ %t{0}, %loop ]\n", i, vector);
    steps += fmt::format("  %t{0} = call {1} @llvm.fmuladd.v{2}f32({1} %s{0}, {1} %f, {1} %f)\n", i,
                         vector, lanes);
    last += fmt::format("  store {0} %t{1}, ptr %p{1}, align 4\n", vector, i);
  }
  return fmt::format("declare {0} @llvm.fmuladd.v{5}f32({0}, {0}, {0})\n"
                     "define void @multiply_adds(ptr %room, i64 %count) nounwind {{\nentry:\n"
                     "  %f = load {0}, ptr %room, align 4\n{1}  br label %loop\nloop:\n"
                     "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n{2}{3}"
                     "  %next = add i64 %i, 1\n  %go = icmp ult i64 %next, %count\n"
                     "  br i1 %go, label %loop, label %exit\nexit:\n{4}  ret void\n}}\n",
                     vector, places, starts, steps, last, lanes);
}

/// Four registers of each array in an iteration.
std::string triadText(uint32_t lanes, bool isFar) {
  std::string vector = fmt::format("<{} x float>", lanes), steps;
  for (uint32_t i = 0; i < 4; ++i)
    steps += fmt::format(
        "  %i{0} = add i64 %i, {1}\n"
        "  %pa{0} = getelementptr float, ptr %a, i64 %i{0}\n"
        "  %pb{0} = getelementptr float, ptr %b, i64 %i{0}\n"
        "  %pc{0} = getelementptr float, ptr %c, i64 %i{0}\n"
        "  %b{0} = load {2}, ptr %pb{0}, align 64\n  %c{0} = load {2}, ptr %pc{0}, align 64\n"
        "  %m{0} = fadd {2} %c{0}, %c{0}\n  %v{0} = fadd {2} %b{0}, %m{0}\n"
        "  store {2} %v{0}, ptr %pa{0}, align 64{3}\n",
        i, i * lanes, vector, isFar ? ", !nontemporal !0" : "");
  return fmt::format("define void @{}(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %count) "
                     "nounwind {{\nentry:\n  br label %loop\nloop:\n"
                     "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n{}  %next = add i64 %i, {}\n"
                     "  %go = icmp ult i64 %next, %count\n"
                     "  br i1 %go, label %loop, label %exit\nexit:\n  ret void\n}}\n",
                     isFar ? "triad_far" : "triad_near", steps, 4 * lanes);
}

using MultiplyAdds = void(float* room, int64_t count);
using Triad = void(float* a, const float* b, const float* c, int64_t count);

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// How often all parts, one for each thread, are done in a second.
template <typename Work>
double partsPerSecond(unsigned threads, Work&& work) {
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    std::atomic<unsigned> next = 0;
    auto start = std::chrono::steady_clock::now();
    runtime::shareWork(threads, [&] {
      for (unsigned part = next++; part < threads; part = next++)
        work(part);
    });
    best = std::max(best, 1 / secondsSince(start));
  }
  return best;
}

double measureOperations(MultiplyAdds* code, uint32_t lanes, unsigned threads) {
  const auto perCount = double(2 * sums * lanes);
  // At a guess of so many for a thread.
  const auto count = int64_t(secondsOfRound * 100e9 / perCount);
  double each = partsPerSecond(threads, [&](unsigned) {
    std::vector<float> room((sums + 1) * lanes);
    for (size_t i = 0; i < room.size(); ++i)
      room[i] = 1 / float(2 + i / lanes);
    code(room.data(), count);
  });
  return each * double(threads) * double(count) * perCount;
}

MemoryLine measureMemory(Triad* near, Triad* far, size_t bytes, unsigned threads) {
  constexpr size_t line = 64, farBytes = size_t(48) << 20, guess = 60'000'000'000;
  const size_t part = std::max(bytes / 3 / threads / (4 * line), size_t(1)) * 4 * line;
  const bool isFar = bytes >= farBytes;
  runtime::Block room(part * 3 * threads);
  std::fill_n(reinterpret_cast<float*>(room.bytes()), part * 3 * threads / sizeof(float), 1.0F);
  const size_t passes = std::max<size_t>(1, size_t(secondsOfRound * double(guess)) / (part * 3));
  double each = partsPerSecond(threads, [&](unsigned number) {
    auto* a = reinterpret_cast<float*>(room.bytes() + part * 3 * number);
    const float *b = a + part / sizeof(float), *c = b + part / sizeof(float);
    for (size_t pass = 0; pass < passes; ++pass)
      (isFar ? far : near)(a, b, c, int64_t(part / sizeof(float)));
  });
  return {double(bytes), each * double(passes) * double(part * 3 * threads)};
}

} // namespace

double RoofLines::secondsOf(const tensor::Demand& demand) const {
  double computing = (demand.narrow + 2 * demand.wide) / operationsPerSecond;
  auto line = std::ranges::find_if(
      memory, [&](const MemoryLine& each) { return each.workingBytes >= demand.bytes; });
  if (line == memory.end())
    --line;
  return std::max(computing, demand.bytes / line->bytesPerSecond);
}

Result<RoofLines> measuredRoof(const std::string& name) {
  auto processor = name.empty() ? hostProcessor() : processorNamed(name);
  if (!processor)
    return processor.failure();
  const uint32_t lanes = processor->vectorBytes() / uint32_t(sizeof(float));
  auto code = compiled(multiplyAddsText(lanes) + triadText(lanes, false) + triadText(lanes, true) +
                           "!0 = !{i32 1}\n",
                       *processor, Output::Object);
  if (!code)
    return code.failure();
  auto image =
      imageOfObject(*code, std::array<std::string, 3>{"multiply_adds", "triad_near", "triad_far"});
  if (!image)
    return image.failure();
  auto loaded = LoadedImage::load(*image);
  if (!loaded)
    return runtime::Error{"machine code cannot be loaded"};
  auto* multiplyAdds = reinterpret_cast<MultiplyAdds*>(loaded->entry(0));
  auto* near = reinterpret_cast<Triad*>(loaded->entry(1));
  auto* far = reinterpret_cast<Triad*>(loaded->entry(2));
  const unsigned threads = runtime::threadLimit();
  RoofLines lines;
  try {
    lines.operationsPerSecond = measureOperations(multiplyAdds, lanes, threads);
    for (size_t kibibytes : {16, 512, 16 << 10, 96 << 10})
      lines.memory.push_back(measureMemory(near, far, kibibytes << 10, threads));
  } catch (const std::bad_alloc&) {
    return runtime::Error{"there is no memory to measure"};
  }
  for (size_t i = lines.memory.size() - 1; i > 0; --i)
    lines.memory[i - 1].bytesPerSecond =
        std::max(lines.memory[i - 1].bytesPerSecond, lines.memory[i].bytesPerSecond);
  return lines;
}

} // namespace codegen
