// Kernels and their code are wrapped, so that neither the machine nor engines know of it.
#include "vm/bytecode/kernel_watch.h"

#include <chrono>

namespace bytecode {

using tensor::TensorFunction;

class WatchedCode final : public runtime::KernelCode {
public:
  WatchedCode(KernelWatch& watch, const TensorFunction& function)
      : watch_(watch), function_(function) {}

  void take(runtime::KernelCode& code, std::span<const int64_t> extents) {
    code_ = &code;
    extents_.assign(extents.begin(), extents.end());
    kernel_ = nullptr;
    problem_ = code.problem() ? *code.problem() : runtime::Fault{runtime::FaultKind::Internal, {}};
    results_ = code.results();
    cost_ = code.cost();
    bytes_ = code.bytes();
  }

  std::optional<runtime::Fault> run(std::span<const std::byte* const> inputs,
                                    std::span<std::byte* const> outputs) override {
    auto fault = watch_.isWatching_ ? runWatched(inputs, outputs) : code_->run(inputs, outputs);
    takeSharing();
    return fault;
  }

private:
  std::optional<runtime::Fault> runWatched(std::span<const std::byte* const> inputs,
                                           std::span<std::byte* const> outputs) {
    if (!kernel_)
      kernel_ = &watch_.kernelFor(function_, extents_);
    auto start = std::chrono::steady_clock::now();
    auto fault = code_->run(inputs, outputs);
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    kernel_->times.push_back(taken.count());
    return fault;
  }

  /// Code that takes the place of other code in a run may allow results in fewer inputs' memory.
  void takeSharing() {
    for (size_t i = 0; i < results_.size(); ++i)
      if (results_[i].replaceable.size() != code_->results()[i].replaceable.size())
        results_[i].replaceable = code_->results()[i].replaceable;
  }

  KernelWatch& watch_;
  const TensorFunction& function_;
  runtime::KernelCode* code_ = nullptr;
  std::vector<int64_t> extents_;
  WatchedKernel* kernel_ = nullptr;
};

namespace {

class WatchedMaking final : public runtime::Kernel {
public:
  WatchedMaking(std::unique_ptr<runtime::Kernel> kernel, KernelWatch& watch,
                const TensorFunction& function)
      : kernel_(std::move(kernel)), code_(watch, function) {}

  runtime::KernelCode& codeFor(std::span<const int64_t> extents) override {
    code_.take(kernel_->codeFor(extents), extents);
    return code_;
  }

private:
  std::unique_ptr<runtime::Kernel> kernel_;
  WatchedCode code_;
};

} // namespace

tensor::MakeKernel KernelWatch::watched(const vm::Program& program, tensor::MakeKernel makeKernel) {
  for (const vm::HostSite& site : program.sites)
    if (site.kernel != vm::HostSite::noKernel)
      sites_.try_emplace(&program.kernels[site.kernel].function,
                         site.op == checks::none ? "" : program.operators[site.op], site.range);
  return [this, makeKernel](const TensorFunction& function,
                            std::span<const strips::SizedProgram> programs) {
    return std::make_unique<WatchedMaking>(makeKernel(function, programs), *this, function);
  };
}

WatchedKernel& KernelWatch::kernelFor(const TensorFunction& function,
                                      std::span<const int64_t> extents) {
  std::vector<int64_t> numbers(extents.begin(), extents.end());
  WatchedKernel*& known = known_[{&function, std::move(numbers)}];
  if (!known) {
    const auto& [name, range] = sites_[&function];
    known = &kernels_.emplace_back(name, range, tensor::demandOf(function, extents));
  }
  return *known;
}

} // namespace bytecode
