// Results that have the elements of an input or of another result in their order are not computed:
// the statements that would copy them are left out once nothing is moved any more, and whoever
// calls gives such a result the memory of the other one.
#include "codegen/strips/compile/sized.h"

#include "codegen/strips/compile/compile.h"
#include "lower/loops/choose.h"
#include "lower/loops/edit.h"
#include "lower/loops/sharing.h"
#include "lower/loops/sized_nest.h"
#include "lower/tensor/given.h"
#include "runtime/threads.h"

#include <algorithm>

namespace strips {

namespace {

using tensor::TensorFunction;

/// Leaves out statements that store to some buffers, and loops that hold nothing then.
void dropStores(std::vector<loops::Node>& body, const std::vector<bool>& isDropped) {
  for (loops::Node& node : body)
    dropStores(node.body, isDropped);
  std::erase_if(body, [&](const loops::Node& node) {
    if (const auto* statement = std::get_if<loops::Statement>(&node.what))
      return bool(isDropped[statement->stores[0].buffer]);
    return !std::holds_alternative<loops::Allocation>(node.what) && node.body.empty();
  });
}

std::vector<ProgramResult> resultsOf(const TensorFunction& function, const loops::Nest& nest,
                                     std::span<const runtime::ResultSource> sources) {
  std::vector<ProgramResult> results;
  for (size_t i = 0; i < sources.size(); ++i) {
    const tensor::TensorInfo& info = function.tensors[function.results[i]];
    results.push_back({info.dtype, uint32_t(info.shape.size()), sources[i]});
  }
  auto isRead = [&](uint32_t input) {
    return std::ranges::any_of(sources, [&](const runtime::ResultSource& source) {
      return source.isInput && source.index == input;
    });
  };
  auto isRoot = [&](uint32_t result) {
    return std::ranges::count_if(sources, [&](const runtime::ResultSource& source) {
             return !source.isInput && source.index == result;
           }) == 1;
  };
  for (auto [input, output] : loops::sharableBuffers(nest)) {
    uint32_t result = output - uint32_t(function.inputCount);
    if (!isRead(input) && isRoot(result))
      results[result].replaceable.push_back(input);
  }
  return results;
}

/// A nest as strips are made of best. One small statement is left as it is.
loops::Nest scheduledFor(loops::Nest nest) {
  loops::MachineModel machine{.cutsLoops = false, .threads = runtime::threadLimit()};
  size_t statements = 0;
  int64_t points = 1;
  loops::forEachNode(nest.body, [&](const loops::Node& node) {
    statements += std::holds_alternative<loops::Statement>(node.what);
    if (const auto* loop = std::get_if<loops::Loop>(&node.what)) {
      int64_t end = nest.table.constantOf(loop->end).value_or(machine.pointsOfThread);
      points *= std::clamp<int64_t>(end, 1, machine.pointsOfThread / points + 1);
    }
  });
  if (statements == 1 && points < machine.pointsOfThread)
    return nest;
  return loops::scheduled(std::move(nest), machine).nest;
}

runtime::Checked<SizedProgram> sizedProgram(const TensorFunction& function, loops::Nest whole,
                                            const std::vector<int64_t>& pattern, int64_t least) {
  auto sources = tensor::resultSources(function);
  loops::Nest nest = scheduledFor(std::move(whole));
  std::vector<bool> isDropped(nest.buffers.size());
  for (size_t i = 0; i < sources.size(); ++i)
    isDropped[function.inputCount + i] = sources[i].isInput || sources[i].index != i;
  dropStores(nest.body, isDropped);
  auto results = resultsOf(function, nest, sources);
  auto program = programOf(std::move(nest));
  if (!program)
    return program.failure();
  List<uint32_t> ranks;
  for (size_t i = 0; i < function.inputCount; ++i)
    ranks.push_back(uint32_t(function.tensors[i].shape.size()));
  return SizedProgram{.pattern = List<int64_t>(pattern),
                      .leastSize = least,
                      .inputRanks = std::move(ranks),
                      .results = List<ProgramResult>(std::move(results)),
                      .program = *std::move(program)};
}

bool isFor(const SizedProgram& program, std::span<const int64_t> extents) {
  List<int64_t> sizes;
  return findSizes(program, extents, sizes);
}

template <loops::Numbers numbers>
runtime::Checked<SizedProgram> numberedProgram(const TensorFunction& function,
                                               std::span<const int64_t> extents) {
  return programFor(function, extents, numbers);
}

} // namespace

runtime::Checked<SizedProgram> programFor(const TensorFunction& function,
                                          std::span<const int64_t> extents,
                                          loops::Numbers numbers) {
  if (!tensor::fits(function, extents))
    return runtime::Problem{"a kernel is for other shapes"};
  std::vector<int64_t> own(extents.begin(), extents.end());
  std::vector<int64_t> pattern = loops::classOf(function, extents);
  if (pattern != own)
    if (auto nest = loops::nestOfPattern(function, pattern, loops::leastOfClass, numbers))
      if (auto program = sizedProgram(function, *std::move(nest), pattern, loops::leastOfClass);
          program && isFor(*program, extents))
        return program;
  auto nest = loops::nestOfPattern(function, own, 0, numbers);
  if (!nest)
    return nest.failure();
  return sizedProgram(function, *std::move(nest), own, 0);
}

std::optional<SizedProgram> programFor(const TensorFunction& function, const checks::Shapes& shapes,
                                       loops::Numbers numbers) {
  std::vector<int64_t> pattern = loops::patternOf(shapes);
  // Without any size of 0, or of 1, more is proven.
  for (int64_t least : {0, 1, 2})
    if (auto nest = loops::nestOfPattern(function, pattern, least, numbers))
      if (auto program = sizedProgram(function, *std::move(nest), pattern, least))
        return *std::move(program);
  return std::nullopt;
}

MakeProgram programMaker(loops::Numbers numbers) {
  return numbers == loops::Numbers::Reference ? numberedProgram<loops::Numbers::Reference>
                                              : numberedProgram<loops::Numbers::Reordered>;
}

tensor::MakeKernel kernelMaker(loops::Numbers numbers) {
  // Programs of an executable may have other numbers.
  bool takesGiven = numbers == loops::Numbers::Reordered;
  return [numbers, takesGiven](const TensorFunction& function,
                               std::span<const SizedProgram> programs) {
    return std::make_unique<ProgramKernel>(
        function, takesGiven ? programs : std::span<const SizedProgram>(), programMaker(numbers));
  };
}

std::unique_ptr<runtime::Kernel> makeKernel(const TensorFunction& function,
                                            std::span<const SizedProgram> programs) {
  return kernelMaker(loops::Numbers::Reordered)(function, programs);
}

tensor::TensorEngine stripsEngine(loops::Numbers numbers) {
  return {.makeKernel = kernelMaker(numbers)};
}

} // namespace strips
