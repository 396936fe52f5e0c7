// What a kernel costs whose sizes differ in every call: a program for them, and numbers for a
// program that is there.
//
//   kernel_sizes [calls]
#include "bench/processor_time.h"
#include "codegen/strips/compile/sized.h"
#include "codegen/strips/kernel.h"
#include "driver/session/session.h"
#include "stdlib/ops.h"
#include "vm/bytecode/compile.h"
#include "vm/machine/kernel.h"

#include <algorithm>
#include <fmt/format.h>

namespace {

using bench::processorSeconds;

/// The least time of some rounds, in nanoseconds for each call.
template <typename Work>
double nanosecondsEach(size_t calls, Work&& work) {
  double least = 1e9;
  for (int round = 0; round < 7; ++round) {
    double start = processorSeconds();
    for (size_t i = 0; i < calls; ++i)
      work(i);
    least = std::min(least, (processorSeconds() - start) * 1e9 / double(calls));
  }
  return least;
}

struct Case {
  const char* name;
  const char* parameters;
  const char* body;
};

/// Of tensors of n rows and 24 columns.
constexpr Case cases[] = {
    {"add", "%x: Tensor[(n, m), float32], %y: Tensor[(n, m), float32]", "%x + %y"},
    {"add of `?` and `?`", "%x: Tensor[(?, ?), float32], %y: Tensor[(?, ?), float32]", "%x + %y"},
    {"concatenate", "%x: Tensor[(n, m), float32], %y: Tensor[(k, m), float32]",
     "concatenate((%x, %y), axis=0)"},
    {"sum", "%x: Tensor[(n, m), float32]", "sum(%x, axis=[1])"},
    {"softmax", "%x: Tensor[(n, m), float32]", "nn.softmax(%x)"},
    {"matmul", "%x: Tensor[(n, m), float32], %y: Tensor[(k, m), float32]",
     "nn.dense(%x, %y, units=None)"},
};

/// The extents of inputs and results for so many rows.
std::vector<int64_t> extentsOf(const vm::KernelSite& site, int64_t rows) {
  std::vector<int64_t> extents, results(site.shapes.results.size());
  for (size_t i = 0; i < site.inputs.size(); ++i)
    extents.insert(extents.end(), {rows, 24});
  if (!checks::findResults(site.shapes, extents, results))
    throw std::logic_error("a kernel is for other shapes");
  extents.insert(extents.end(), results.begin(), results.end());
  return extents;
}

} // namespace

int main(int argc, char** argv) {
  size_t calls = argc > 1 ? size_t(std::atoll(argv[1])) : 20'000;
  driver::Session session{stdlib::operatorTable()};
  fmt::print(
      "| kernel | program ns | other numbers ns | programs for 100 sizes |\n|:--|--:|--:|--:|\n");
  for (const Case& each : cases) {
    auto program = *session.loadText("bench", fmt::format("#[version = \"0.0.5\"]\n"
                                                          "def @main({}) {{ {} }}\n",
                                                          each.parameters, each.body));
    auto compiled = bytecode::compile(*program.module, program.typing, session.operators(),
                                      std::array{program.module->find("main")});
    const vm::KernelSite& site = compiled->program.kernels.front();
    std::vector<std::vector<int64_t>> sizes;
    for (int64_t rows = 2; rows < 102; ++rows)
      sizes.push_back(extentsOf(site, rows));
    double making = nanosecondsEach(calls / 10, [&](size_t i) {
      strips::ProgramKernel kernel(site.function, {},
                                   strips::programMaker(loops::Numbers::Reordered));
      kernel.codeFor(sizes[i % 100]);
    });
    strips::ProgramKernel kernel(site.function, {},
                                 strips::programMaker(loops::Numbers::Reordered));
    double renewal = nanosecondsEach(calls, [&](size_t i) { kernel.codeFor(sizes[i % 100]); });
    fmt::print("| {} | {:.0f} | {:.0f} | {} |\n", each.name, making, renewal,
               kernel.programsMade());
  }
}
