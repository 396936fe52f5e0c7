// Strip programs of loop nests beside what plans kernels now: the time of each kernel of programs,
// on one thread, and how long it takes to make it.
//
//   strip_programs [program...]
#include "bench/processor_time.h"
#include "codegen/strips/compile/compile.h"
#include "codegen/strips/run.h"
#include "driver/executable_file.h"
#include "driver/session/session.h"
#include "lower/loops/choose.h"
#include "lower/strips/kernel.h"
#include "runtime/threads.h"
#include "stdlib/ops.h"
#include "tests/harness/operand_data.h"
#include "tests/harness/random.h"
#include "tests/harness/run_nest.h"
#include "vm/bytecode/compile.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

namespace {

using bench::processorSeconds;
using runtime::Tensor;

/// Operators of models, on parameters `%x`, `%y` and `%z`.
struct Case {
  const char* name;
  const char* parameters;
  const char* body;
};

constexpr Case cases[] = {
    {"add 8", "%x: Tensor[(8), float32], %y: Tensor[(8), float32]", "%x + %y"},
    {"add 1000x1000", "%x: Tensor[(1000, 1000), float32], %y: Tensor[(1000, 1000), float32]",
     "%x + %y"},
    {"bias 1000x64", "%x: Tensor[(1000, 64), float32], %y: Tensor[(64), float32]", "%x + %y"},
    {"relu of 1000x3", "%x: Tensor[(1000, 3), float32]", "nn.relu(%x)"},
    {"sum last", "%x: Tensor[(1000, 1000), float32]", "sum(%x, axis=[1])"},
    {"sum first", "%x: Tensor[(1000, 1000), float32]", "sum(%x, axis=[0])"},
    {"sum all", "%x: Tensor[(1000, 1000), float32]", "sum(%x)"},
    {"mean of 1000x3", "%x: Tensor[(1000, 3), float32]", "mean(%x, axis=[1])"},
    {"max last", "%x: Tensor[(1000, 1000), float32]", "max(%x, axis=[1])"},
    {"argmax last", "%x: Tensor[(1000, 1000), float32]", "argmax(%x, axis=[1])"},
    {"softmax", "%x: Tensor[(1000, 1000), float32]", "nn.softmax(%x)"},
    {"layer_norm",
     "%x: Tensor[(1000, 256), float32], %y: Tensor[(256), float32], %z: Tensor[(256), float32]",
     "nn.layer_norm(%x, %y, %z)"},
    {"transpose", "%x: Tensor[(1000, 1000), float32]", "transpose(%x, axes=[1, 0])"},
    {"transpose 4", "%x: Tensor[(8, 64, 12, 64), float32]", "transpose(%x, axes=[0, 2, 1, 3])"},
    {"take rows", "%x: Tensor[(1000, 256), float32], %y: Tensor[(512), int32]",
     "take(%x, %y, axis=0)"},
    {"concatenate", "%x: Tensor[(1000, 256), float32], %y: Tensor[(1000, 256), float32]",
     "concatenate((%x, %y), axis=1)"},
    {"pad", "%x: Tensor[(16, 64, 56, 56), float32]",
     "nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]])"},
    {"cumsum", "%x: Tensor[(1000, 1000), float32]", "cumsum(%x, axis=1)"},
    {"dense 1", "%x: Tensor[(1, 1024), float32], %y: Tensor[(1024, 1024), float32]",
     "nn.dense(%x, %y, units=None)"},
    {"dense 4", "%x: Tensor[(4, 1024), float32], %y: Tensor[(1024, 1024), float32]",
     "nn.dense(%x, %y, units=None)"},
    {"dense 256", "%x: Tensor[(256, 512), float32], %y: Tensor[(512, 512), float32]",
     "nn.dense(%x, %y, units=None)"},
    {"batch_matmul", "%x: Tensor[(12, 64, 64), float32], %y: Tensor[(12, 64, 64), float32]",
     "nn.batch_matmul(%x, %y)"},
    {"conv2d 3x3", "%x: Tensor[(1, 64, 56, 56), float32], %y: Tensor[(64, 64, 3, 3), float32]",
     "nn.conv2d(%x, %y, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3])"},
    {"conv2d 1x1", "%x: Tensor[(1, 64, 56, 56), float32], %y: Tensor[(128, 64, 1, 1), float32]",
     "nn.conv2d(%x, %y, channels=128, kernel_size=[1, 1])"},
    {"depthwise", "%x: Tensor[(1, 64, 56, 56), float32], %y: Tensor[(64, 1, 3, 3), float32]",
     "nn.conv2d(%x, %y, padding=[1, 1, 1, 1], groups=64, channels=64, kernel_size=[3, 3])"},
    {"max_pool2d", "%x: Tensor[(1, 64, 56, 56), float32]",
     "nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2])"},
};

/// The least time of a call over some rounds, in microseconds.
template <typename Work>
double microseconds(Work&& work) {
  double least = 1e9;
  size_t calls = 1;
  for (int round = 0; round < 9; ++round) {
    double start = processorSeconds();
    for (size_t i = 0; i < calls; ++i)
      work();
    double took = processorSeconds() - start;
    least = std::min(least, took / double(calls) * 1e6);
    if (took < 2e-3)
      calls = std::min<size_t>(calls * 4, 1 << 16);
  }
  return least;
}

class KernelBench {
public:
  KernelBench(const std::string& name, const tensor::TensorFunction& function)
      : name_(name), function_(function) {}

  void run() {
    auto nest = harness::closedNest(function_);
    if (!nest)
      return fmt::print("| {} | {} |\n", name_, nest.failure().text);
    makeTensors();
    auto kernel = lower::makeKernel(function_);
    runtime::KernelCode* code = &kernel->codeFor(extents_);
    std::vector<const std::byte*> from(inputs_.size());
    std::vector<std::byte*> to, all;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      from[i] = std::as_const(inputs_[i]).bytes();
      all.push_back(const_cast<std::byte*>(from[i]));
    }
    for (Tensor& output : outputs_) {
      to.push_back(output.bytes());
      all.push_back(output.bytes());
    }
    double start = processorSeconds();
    loops::Nest made = loops::scheduled(*nest, {.cutsLoops = false, .threads = 1}).nest;
    double scheduled = processorSeconds();
    auto program = strips::programOf(made);
    double compiled = processorSeconds();
    if (!program)
      return fmt::print("| {} | {} |\n", name_, program.failure().text);
    strips::LinkedProgram linked = strips::linked(*std::move(program));
    double planned = microseconds([&] { code->run(from, to); });
    double byStrips = microseconds([&] { strips::run(linked, all, {}); });
    fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {:.0f} | {:.0f} |\n", name_, planned, byStrips,
               byStrips / planned, (scheduled - start) * 1e6, (compiled - scheduled) * 1e6);
  }

private:
  void makeTensors() {
    harness::Random random(1);
    auto add = [&](const tensor::TensorInfo& info, std::vector<Tensor>& tensors) {
      runtime::Shape shape;
      for (const tensor::ScalarNode* extent : info.shape)
        shape.push_back(extent->as<tensor::ScalarNumber>()->integer);
      extents_.insert(extents_.end(), shape.begin(), shape.end());
      tensors.push_back(Tensor(info.dtype, shape));
      harness::fillTensor(tensors.back(), harness::Data::Positions, random);
    };
    for (size_t i = 0; i < function_.inputCount; ++i)
      add(function_.tensors[i], inputs_);
    for (uint32_t result : function_.results)
      add(function_.tensors[result], outputs_);
  }

  const std::string& name_;
  const tensor::TensorFunction& function_;
  std::vector<int64_t> extents_;
  std::vector<Tensor> inputs_, outputs_;
};

void runProgram(const std::string& name, const std::string& text) {
  driver::Session session{stdlib::operatorTable()};
  auto program = session.loadText(name, text);
  if (!program)
    return fmt::print("| {} | does not load |\n", name);
  constexpr std::string_view entries[] = {"main"};
  driver::prepareForMachine(session, *program, entries, false);
  auto compiled = bytecode::compile(*program->module, program->typing, session.operators(),
                                    std::array{program->module->find("main")});
  size_t number = 0;
  for (const vm::KernelSite& site : compiled->program.kernels)
    KernelBench(number++ == 0 ? name : fmt::format("{} {}", name, number), site.function).run();
}

} // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  runtime::limitThreads(1);
  fmt::print("| kernel | plan us | strips us | ratio | schedule us | compile us |\n"
             "|---|--:|--:|--:|--:|--:|\n");
  if (argc == 1)
    for (const Case& each : cases)
      runProgram(each.name, fmt::format("#[version = \"0.0.5\"]\ndef @main({}) {{ {} }}\n",
                                        each.parameters, each.body));
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i]);
    std::stringstream text;
    text << file.rdbuf();
    runProgram(argv[i], text.str());
  }
}
