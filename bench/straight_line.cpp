// What the machine takes beside its kernels: a model over numbers from an executable, run again and
// again, and the time inside of its kernels in the same runs with a clock around each. Behind it
// the storage: what a plan made ahead could not do without, the most that large tensors held at
// once, and the memory that they lay in.
//
//   straight_line MODEL.bvm [runs]
//
// The clock's own time, measured around nothing, is taken off.
#include "codegen/strips/kernel.h"
#include "runtime/large_blocks.h"
#include "vm/executable/call.h"
#include "vm/machine/observer.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <random>

namespace {

using Clock = std::chrono::steady_clock;

double nanosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + ptrdiff_t(values.size() / 2));
  return values[values.size() / 2];
}

/// Random floats, or ones, for a parameter whose extents are numbers.
runtime::Value argumentFor(const executable::Executable& model, const executable::Port& port,
                           std::mt19937& random) {
  runtime::Shape shape;
  for (uint32_t size : port.declared.shape)
    shape.push_back(model.program.checks.sizes.at(size).number);
  runtime::Tensor tensor(port.declared.dtype, shape);
  if (port.declared.dtype == runtime::Float32)
    for (float& element : tensor.elements<float>())
      element = float(random() % 1000) * 1e-4F;
  return runtime::tensorValue(std::move(tensor));
}

/// Adds up what lies between a question and its answer.
struct KernelClock {
  double total = 0;
  size_t calls = 0;
  Clock::time_point start;
  vm::Observer observer{.entered = [](uint32_t, bool) {},
                        .left = [] {},
                        .asked = [this](uint32_t) { start = Clock::now(); },
                        .answered =
                            [this] {
                              total += nanosecondsSince(start);
                              ++calls;
                            }};

  double emptyCall() {
    constexpr size_t rounds = 100'000;
    for (size_t i = 0; i < rounds; ++i) {
      observer.asked(0);
      observer.answered();
    }
    double each = total / double(rounds);
    total = 0;
    calls = 0;
    return each;
  }
};

void call(executable::Caller& caller, std::span<const runtime::Value* const> arguments) {
  auto result = caller.call(0, arguments);
  if (const auto* fault = std::get_if<runtime::RunFault>(&result))
    throw std::runtime_error(fault->problem.plain());
}

} // namespace

int main(int argc, char** argv) {
  size_t runs = argc > 2 ? size_t(std::atoll(argv[2])) : 51;
  auto loaded = executable::load(argc > 1 ? argv[1] : "");
  if (!loaded) {
    fmt::print(stderr, "error: {}\n", loaded.failure().message);
    return 2;
  }
  const executable::Executable& model = **loaded;
  std::mt19937 random(1);
  std::vector<runtime::Value> values;
  for (const executable::Port& port : model.entries[0].parameters)
    values.push_back(argumentFor(model, port, random));
  std::vector<const runtime::Value*> arguments;
  for (const runtime::Value& value : values)
    arguments.push_back(&value);
  const double megabyte = 1e6, inputs = double(runtime::largeMemory().used);
  KernelClock clock;
  const double empty = clock.emptyCall();
  vm::RunOptions plain{.makeKernel = strips::givenKernel};
  vm::RunOptions watched{.observer = &clock.observer, .makeKernel = strips::givenKernel};
  const vm::Language language = executable::withoutLanguage(model);
  executable::Caller alone(model, plain, language), observed(model, watched, language);
  std::vector<double> whole, kernels, beside;
  for (size_t run = 0; run < runs + 2; ++run) {
    Clock::time_point start = Clock::now();
    call(alone, arguments);
    double total = nanosecondsSince(start);
    clock.total = 0;
    clock.calls = 0;
    call(observed, arguments);
    // The first runs make plans.
    if (run < 2)
      continue;
    whole.push_back(total);
    kernels.push_back(clock.total - double(clock.calls) * empty);
    beside.push_back((total - kernels.back()) / total);
  }
  fmt::print("{} calls, {:.1f} us a run, {:.1f} us in kernels, {:.2f} % beside them\n", clock.calls,
             median(whole) / 1e3, median(kernels) / 1e3, 100 * median(beside));
  runtime::LargeMemory storage = runtime::largeMemory();
  fmt::print("inputs of {:.2f} MB, {:.2f} MB lived at once, in {:.2f} MB of memory\n",
             inputs / megabyte, double(storage.mostUsed) / megabyte,
             double(storage.mostTouched) / megabyte);
}
