// Each nest is compiled by itself, by as many threads as the process computes with; what comes out
// does not depend on them.
#include "driver/products/machine_code.h"

#include "codegen/native/compiler.h"
#include "lower/loops/choose.h"
#include "lower/loops/sized_nest.h"
#include "runtime/threads.h"

#include <atomic>
#include <map>
#include <new>

namespace driver {

using executable::Executable;
using runtime::Result;

namespace {

/// Of each nest its code; nothing where it is not compiled.
std::vector<std::optional<codegen::NestCode>> compiledNests(const std::vector<KernelNest>& nests,
                                                            const codegen::Processor& processor) {
  std::vector<std::optional<codegen::NestCode>> codes(nests.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> isOutOfMemory = false;
  runtime::shareWork(runtime::threadLimit(), [&] {
    try {
      for (size_t i = next++; i < nests.size(); i = next++)
        if (auto code = codegen::codeOf(nests[i].nest, processor))
          codes[i] = *std::move(code);
    } catch (const std::bad_alloc&) {
      isOutOfMemory = true;
    }
  });
  if (isOutOfMemory)
    throw std::bad_alloc();
  return codes;
}

} // namespace

std::vector<KernelNest> kernelNests(const Executable& made, loops::Numbers numbers,
                                    const Target& target) {
  std::vector<KernelNest> nests;
  std::map<std::string, size_t> known;
  for (uint32_t i = 0; i < made.program.kernels.size(); ++i) {
    const vm::KernelSite& site = made.program.kernels[i];
    if (site.programs.empty() || !codegen::hasNativeForm(site.function))
      continue;
    const strips::SizedProgram& program = site.programs.front();
    auto nest = loops::nestOfPattern(site.function, program.pattern, program.leastSize, numbers);
    if (!nest)
      continue;
    auto [place, isNew] = known.emplace(loops::textOf(*nest), nests.size());
    if (isNew)
      nests.push_back(
          {loops::scheduled(*std::move(nest), codegen::modelOf(target.processor)).nest, {}});
    nests[place->second].kernels.push_back(i);
  }
  return nests;
}

Result<size_t> addMachineCode(Executable& made, loops::Numbers numbers,
                              const std::vector<Target>& targets) {
  if (auto host = codegen::hostProcessor(); !host)
    return host.failure();
  made.machineCode.clear();
  for (const Target& target : targets) {
    std::vector<KernelNest> nests = kernelNests(made, numbers, target);
    auto codes = compiledNests(nests, target.processor);
    for (size_t i = 0; i < nests.size(); ++i)
      if (codes[i])
        made.machineCode.push_back(
            {target.name, std::move(nests[i].kernels), codegen::bytesOf(*codes[i])});
  }
  return made.machineCode.size();
}

} // namespace driver
