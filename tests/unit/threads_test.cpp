// Several threads at once: what the sources say may be shared gives the same bits as one thread
// alone. The thread sanitizer makes more of it; see docs/testing.md.
#include "codegen/strips/compile/sized.h"
#include "driver/session/session.h"
#include "interp/interpret.h"
#include "lang/op/compute.h"
#include "runtime/parts.h"
#include "runtime/threads.h"
#include "stdlib/ops.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

using namespace lang;
using runtime::Tensor;
using runtime::Value;

namespace {

constexpr size_t threadCount = 4;

/// Does `work` in all threads; Catch's macros belong to the thread that waits.
void inThreads(const std::function<void(size_t)>& work) {
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < threadCount; ++i)
    threads.emplace_back(work, i);
}

Tensor numbers(runtime::Shape shape, int64_t first) {
  Tensor tensor(runtime::Float32, std::move(shape));
  for (float& element : tensor.elements<float>())
    element = float(first++ % 17) / 8;
  return tensor;
}

/// A product of matrices and functions of its elements: large enough for the engine to use threads
/// of its own.
TensorFunction mixedFunction(int64_t size) {
  TypeContext types;
  const Type* matrix = types.tensorOf(runtime::Shape{size, size}, runtime::Float32);
  const Type* operands[] = {matrix, matrix};
  Attributes attributes;
  ComputeCall call(operands, matrix, attributes);
  TensorHandle a = call.input(0), b = call.input(1);
  TensorHandle product = call.define(a.shape(), [&](const Position& at) {
    return call.sumOver({a.extent(1)}, [&](const Position& k) {
      return a({at[0], k[0]}) * b({k[0], at[1]});
    });
  });
  call.result([&](const Position& at) {
    Scalar number = product(at);
    return apply(ScalarFunction::Sin, {number}) + tanh(number * 0.5) / 3.0;
  });
  return *call.take();
}

std::string bitsOf(const Value& value) {
  const Tensor& tensor = value.tensor();
  return {reinterpret_cast<const char*>(tensor.bytes()), tensor.byteSize()};
}

/// Lets the process have so many threads for as long as it lives.
struct Threads {
  explicit Threads(unsigned count) { runtime::limitThreads(count); }
  ~Threads() { runtime::limitThreads(before); }

  unsigned before = runtime::threadLimit();
};

/// What all pieces together are, each of which is many pieces of its own on the lower levels.
int64_t sharedCount(int levels) {
  constexpr int64_t pieces = 16;
  std::atomic<int64_t> next = 0, sum = 0;
  auto work = [&] {
    while (next++ < pieces)
      sum += levels > 1 ? sharedCount(levels - 1) : 1;
  };
  runtime::shareWork(threadCount, work);
  return sum;
}

} // namespace

TEST_CASE("work is shared by several callers at once, and by those who share it") {
  Threads threads(threadCount);
  CHECK(sharedCount(1) == 16);
  std::vector<int64_t> counts(threadCount);
  for (int round = 0; round < 20; ++round) {
    inThreads([&](size_t i) { counts[i] = sharedCount(2); });
    CHECK(counts == std::vector<int64_t>(threadCount, 256));
  }
}

TEST_CASE("whatever the number of threads, all pieces are done once") {
  for (unsigned count : {1u, 2u, 7u}) {
    Threads threads(count);
    CHECK(runtime::threadsFor(1e12) == count);
    std::vector<std::atomic<int>> done(1001);
    auto fault = runtime::runParts(1001, 10, count, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        ++done[size_t(i)];
      return std::optional<runtime::Fault>();
    });
    CHECK(!fault);
    CHECK(std::ranges::all_of(done, [](int times) { return times == 1; }));
  }
}

TEST_CASE("of pieces that fail the first one counts, and what is thrown is thrown on") {
  Threads threads(threadCount);
  auto failing = [](int64_t first, int64_t last) {
    return last > 500 ? std::optional(runtime::Fault{runtime::FaultKind::Data,
                                                     std::to_string(std::max<int64_t>(first, 500))})
                      : std::nullopt;
  };
  auto throwing = [](int64_t first, int64_t) -> std::optional<runtime::Fault> {
    return first == 0 ? throw std::bad_alloc() : std::nullopt;
  };
  for (int round = 0; round < 200; ++round) {
    auto fault = runtime::runParts(1600, 100, threadCount, failing);
    REQUIRE(fault);
    CHECK(fault->problem.plain() == "500");
    CHECK_THROWS_AS(runtime::runParts(1600, 100, threadCount, throwing), std::bad_alloc);
  }
}

TEST_CASE("a plan runs in several threads at once") {
  constexpr int64_t size = 192;
  tensor::OwnedKernel kernel(mixedFunction(size), strips::makeKernel);
  std::vector<std::vector<Value>> inputs;
  std::vector<std::string> expected(threadCount), found(threadCount);
  for (size_t i = 0; i < threadCount; ++i)
    inputs.push_back({runtime::tensorValue(numbers({size, size}, int64_t(i))),
                      runtime::tensorValue(numbers({size, size}, 5))});
  auto run = [&](size_t i) {
    std::vector<Value> outputs;
    auto fault = kernel.run(inputs[i], outputs);
    return fault ? "fault: " + fault->problem.plain() : bitsOf(outputs[0]);
  };
  for (size_t i = 0; i < threadCount; ++i)
    expected[i] = run(i);
  for (int round = 0; round < 4; ++round) {
    inThreads([&](size_t i) { found[i] = run(i); });
    CHECK(found == expected);
  }
}

TEST_CASE("programs are read, checked and run in several threads at once") {
  const std::string text = "#[version = \"0.0.5\"]\n"
                           "def @main() {\n"
                           "  let %x = arange(0f, 12f, 1f, dtype=\"float32\");\n"
                           "  let %y = reshape(%x, newshape=[3, 4]);\n"
                           "  nn.softmax(nn.dense(%y, %y, units=None)) + @foldl(fn (%a: float32, "
                           "%b: float32) { %a + %b }, 0f,\n"
                           "    Cons(1f, Cons(2f, Nil)))\n"
                           "}\n";
  std::vector<std::string> found(threadCount);
  inThreads([&](size_t i) {
    driver::Session session(stdlib::operatorTable());
    auto program = session.loadText("test", text);
    if (!program || !program->isGood()) {
      found[i] = "refused";
      return;
    }
    auto result =
        interp::interpret(*program->module, program->typing, session.operators(),
                          *program->module->find("main"), {}, {.engine = strips::stripsEngine()});
    auto* value = std::get_if<Value>(&result);
    found[i] = value ? bitsOf(*value) : "fault: " + std::get<interp::Fault>(result).problem.plain();
  });
  CHECK(found[0].size() == 9 * sizeof(float));
  for (const std::string& bits : found)
    CHECK(bits == found[0]);
}
