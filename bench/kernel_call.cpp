// What a call of a kernel costs on the machine beside the kernel: a loop of calls over a named size
// against the same kernel, run as often by itself.
//
//   kernel_call [calls]
#include "bench/processor_time.h"
#include "codegen/strips/compile/sized.h"
#include "driver/session/session.h"
#include "stdlib/ops.h"
#include "vm/bytecode/compile.h"
#include "vm/machine/machine.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace {

using bench::processorSeconds;

template <typename Work>
double nanosecondsEach(size_t calls, Work&& work) {
  double start = processorSeconds();
  work();
  return (processorSeconds() - start) * 1e9 / double(calls);
}

std::string program(size_t calls, int64_t size, bool callsKernel) {
  std::string step = callsKernel ? "add(%x, %y)" : "%x";
  return fmt::format(R"(#[version = "0.0.5"]
def @loop(%i: int32, %x: Tensor[(n), float32], %y: Tensor[(n), float32]) -> Tensor[(n), float32] {{
  if (less(%i, 1)) {{ %x }} else {{ @loop(subtract(%i, 1), {}, %y) }}
}}
def @main() {{
  let %x = full(0.1f, shape=[{}], dtype="float32");
  @loop({}, %x, %x)
}}
)",
                     step, size, calls);
}

class Loop {
public:
  Loop(driver::Session& session, size_t calls, int64_t size, bool callsKernel)
      : program_(*session.loadText("bench", program(calls, size, callsKernel))),
        compiled_(bytecode::compile(*program_.module, program_.typing, session.operators(),
                                    std::array{program_.module->find("main")})),
        machine_(compiled_->program, {.makeKernel = strips::makeKernel}) {}

  void run() {
    vm::Slot result;
    if (machine_.run(compiled_->program.entries[0], {}, result) != vm::Trap::None)
      throw std::logic_error("the loop failed");
    machine_.heap().release(result.object);
  }
  /// The kernel of the loop's addition: the one with two inputs.
  const vm::KernelSite& kernel() const {
    return *std::ranges::find(compiled_->program.kernels, size_t(2),
                              [](const vm::KernelSite& site) { return site.inputs.size(); });
  }

private:
  driver::Program program_;
  std::unique_ptr<bytecode::Compiled> compiled_;
  vm::Machine machine_;
};

} // namespace

int main(int argc, char** argv) {
  size_t calls = argc > 1 ? size_t(std::atoll(argv[1])) : 1'000'000;
  driver::Session session{stdlib::operatorTable()};
  fmt::print(
      "| floats | kernel ns | call ns | loop ns | beside the kernel ns |\n|--:|--:|--:|--:|--:|\n");
  for (int64_t size : {1, 8, 64, 1024}) {
    Loop with(session, calls, size, true), without(session, calls, size, false);
    auto kernel = strips::makeKernel(with.kernel().function, {});
    runtime::Shape shape{size};
    runtime::KernelCode& code = kernel->codeFor(std::vector{size, size, size});
    runtime::Tensor x(runtime::Float32, shape), out(runtime::Float32, shape);
    const std::byte* from[] = {std::as_const(x).bytes(), std::as_const(x).bytes()};
    std::byte* to[] = {out.bytes()};
    std::vector<double> alone, called, loops, beside;
    for (int round = 0; round < 9; ++round) {
      alone.push_back(nanosecondsEach(calls, [&] {
        for (size_t i = 0; i < calls; ++i)
          code.run(from, to);
      }));
      called.push_back(nanosecondsEach(calls, [&] { with.run(); }));
      loops.push_back(nanosecondsEach(calls, [&] { without.run(); }));
      beside.push_back(called.back() - alone.back() - loops.back());
    }
    auto median = [](std::vector<double>& values) {
      std::ranges::nth_element(values, values.begin() + 4);
      return values[4];
    };
    fmt::print("| {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", size, median(alone), median(called),
               median(loops), median(beside));
  }
}
