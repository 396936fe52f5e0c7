// Runs of kernels are wrapped, so that neither the machine nor engines know of it.
#include "vm/bytecode/kernel_watch.h"

#include <chrono>

namespace bytecode {

using tensor::TensorFunction;

tensor::MakeKernel KernelWatch::watched(const vm::Program& program, tensor::MakeKernel makeKernel) {
  for (const vm::HostSite& site : program.sites)
    if (site.kernel != vm::HostSite::noKernel)
      sites_.try_emplace(&program.kernels[site.kernel].function,
                         site.op == checks::none ? "" : program.operators[site.op], site.range);
  return tensor::wrapped(makeKernel,
                         [this](const TensorFunction& function, std::span<const int64_t> extents) {
                           return around(function, {extents.begin(), extents.end()});
                         });
}

tensor::AroundRun KernelWatch::around(const TensorFunction& function,
                                      std::vector<int64_t> extents) {
  return [this, &function, extents = std::move(extents),
          kernel = static_cast<WatchedKernel*>(nullptr)](
             runtime::KernelCode& code, std::span<const std::byte* const> inputs,
             std::span<std::byte* const> outputs) mutable {
    if (!isWatching_)
      return code.run(inputs, outputs);
    if (!kernel)
      kernel = &kernelFor(function, extents);
    auto start = std::chrono::steady_clock::now();
    auto fault = code.run(inputs, outputs);
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    kernel->times.push_back(taken.count());
    return fault;
  };
}

WatchedKernel& KernelWatch::kernelFor(const TensorFunction& function,
                                      const std::vector<int64_t>& extents) {
  WatchedKernel*& known = known_[{&function, extents}];
  if (!known) {
    const auto& [name, range] = sites_[&function];
    known = &kernels_.emplace_back(name, range, tensor::demandOf(function, extents));
  }
  return *known;
}

} // namespace bytecode
