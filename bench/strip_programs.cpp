// Strip programs of loop nests: the time of each kernel of programs, on one thread, and how long it
// takes to make it. Sizes that have names are 1000.
//
//   strip_programs [program.rly | part of a case's name]...
#include "bench/processor_time.h"
#include "bench/strip_cases.h"
#include "codegen/strips/compile/compile.h"
#include "codegen/strips/compile/sized.h"
#include "codegen/strips/kernel.h"
#include "driver/executable_file.h"
#include "driver/session/derive.h"
#include "driver/session/session.h"
#include "lower/loops/choose.h"
#include "lower/loops/sized_nest.h"
#include "runtime/threads.h"
#include "stdlib/ops.h"
#include "tests/harness/operand_data.h"
#include "tests/harness/random.h"
#include "vm/bytecode/compile.h"
#include "vm/machine/kernel.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

namespace {

using bench::processorSeconds;
using runtime::Tensor;

/// The least time of a call over some rounds, in microseconds.
class Least {
public:
  template <typename Work>
  void round(Work&& work) {
    double start = processorSeconds();
    for (size_t i = 0; i < calls_; ++i)
      (void)work();
    double took = processorSeconds() - start;
    microseconds = std::min(microseconds, took / double(calls_) * 1e6);
    if (took < 2e-3)
      calls_ = std::min<size_t>(calls_ * 4, 1 << 16);
  }

  double microseconds = 1e9;

private:
  size_t calls_ = 1;
};

class KernelBench {
public:
  KernelBench(std::string name, const vm::KernelSite& site)
      : name_(std::move(name)), function_(site.function) {
    extents_ = extentsOf(site);
  }

  void run() {
    makeTensors();
    strips::ProgramKernel kernel(function_, {}, strips::programMaker(loops::Numbers::Reordered));
    runtime::KernelCode& code = kernel.codeFor(extents_);
    if (code.problem())
      return fmt::print("| {} | {} |\n", name_,
                        code.problem()->problem.plain());
    std::vector<const std::byte*> from;
    std::vector<std::byte*> to;
    for (const Tensor& input : inputs_)
      from.push_back(input.bytes());
    for (Tensor& output : outputs_)
      to.push_back(output.bytes());
    Least run, nest, schedule, program;
    for (int round = 0; round < 11; ++round)
      run.round([&] { return code.run(from, to); });
    for (int round = 0; round < 5; ++round) {
      std::vector<int64_t> pattern = loops::classOf(function_, extents_);
      auto make = [&] {
        return loops::nestOfPattern(function_, pattern, loops::leastOfClass,
                                    loops::Numbers::Reordered);
      };
      nest.round(make);
      auto made = make();
      if (!made)
        return fmt::print("| {} | {:.2f} | {} |\n", name_, run.microseconds, made.failure().text);
      schedule.round([&] { return scheduled(*made); });
      loops::Nest chosen = scheduled(*made);
      program.round([&] { return strips::programOf(chosen); });
    }
    fmt::print("| {} | {:.2f} | {:.0f} | {:.0f} | {:.0f} |\n", name_, run.microseconds,
               nest.microseconds, schedule.microseconds, program.microseconds);
  }

private:
  static loops::Nest scheduled(const loops::Nest& nest) {
    return loops::scheduled(nest, {.cutsLoops = false, .threads = 1}).nest;
  }

  static std::vector<int64_t> extentsOf(const vm::KernelSite& site) {
    constexpr int64_t named = 1000;
    std::vector<int64_t> extents, results(site.shapes.results.size());
    for (size_t i = 0; i < site.function.inputCount; ++i)
      for (const tensor::ScalarNode* extent : site.function.tensors[i].shape)
        extents.push_back(extent->kind == tensor::ScalarKind::Number
                              ? extent->as<tensor::ScalarNumber>()->integer
                              : named);
    if (!checks::findResults(site.shapes, extents, results))
      throw std::logic_error("a kernel is for other shapes");
    extents.insert(extents.end(), results.begin(), results.end());
    return extents;
  }

  void makeTensors() {
    harness::Random random(1);
    size_t next = 0;
    auto add = [&](const tensor::TensorInfo& info, std::vector<Tensor>& tensors) {
      runtime::Shape shape(extents_.begin() + ptrdiff_t(next),
                           extents_.begin() + ptrdiff_t(next + info.shape.size()));
      next += info.shape.size();
      tensors.push_back(Tensor(info.dtype, shape));
      harness::fillTensor(tensors.back(), harness::Data::Positions, random);
    };
    for (size_t i = 0; i < function_.inputCount; ++i)
      add(function_.tensors[i], inputs_);
    for (uint32_t result : function_.results)
      add(function_.tensors[result], outputs_);
  }

  std::string name_;
  const tensor::TensorFunction& function_;
  std::vector<int64_t> extents_;
  std::vector<Tensor> inputs_, outputs_;
};

void runProgram(const std::string& name, const std::string& text) {
  driver::Session session{stdlib::operatorTable()};
  auto program = session.loadText(name, text);
  constexpr std::string_view entries[] = {"main"};
  if (!program || !program->isGood() || !driver::Derivation(session, *program).writeOut(entries))
    return fmt::print("| {} | does not load |\n", name);
  driver::prepareForMachine(session, *program, entries, false);
  auto compiled = bytecode::compile(*program->module, program->typing, session.operators(),
                                    std::array{program->module->find("main")});
  size_t number = 0;
  for (const vm::KernelSite& site : compiled->program.kernels)
    KernelBench(number++ == 0 ? name : fmt::format("{} {}", name, number), site).run();
}

void runFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  runProgram(std::filesystem::path(path).stem(), text.str());
}

void runCases(std::string_view part) {
  for (const bench::StripCase& each : bench::stripCases)
    if (std::string_view(each.name).find(part) != std::string_view::npos)
      runProgram(each.name, fmt::format("#[version = \"0.0.5\"]\ndef @main({}) {{ {} }}\n",
                                        each.parameters, each.body));
}

} // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  runtime::limitThreads(1);
  fmt::print("| kernel | us | nest us | schedule us | program us |\n|:--|--:|--:|--:|--:|\n");
  if (argc == 1)
    runCases("");
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).ends_with(".rly"))
      runFile(argv[i]);
    else
      runCases(argv[i]);
}
