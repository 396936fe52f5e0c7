// A kernel and the code that it gave last, each in a cover.
#include "lower/tensor/wrapped_kernel.h"

namespace tensor {

namespace {

class WrappedCode final : public runtime::KernelCode {
public:
  void take(runtime::KernelCode& code, AroundRun around) {
    code_ = &code;
    around_ = std::move(around);
    problem_ = code.problem() ? *code.problem() : runtime::Fault{runtime::FaultKind::Internal, {}};
    results_ = code.results();
    cost_ = code.cost();
    bytes_ = code.bytes();
  }

  std::optional<runtime::Fault> run(std::span<const std::byte* const> inputs,
                                    std::span<std::byte* const> outputs) override {
    auto fault = around_(*code_, inputs, outputs);
    takeSharing();
    return fault;
  }

private:
  /// Code that takes the place of other code in a run may allow results in fewer inputs' memory.
  void takeSharing() {
    for (size_t i = 0; i < results_.size(); ++i)
      if (results_[i].replaceable.size() != code_->results()[i].replaceable.size())
        results_[i].replaceable = code_->results()[i].replaceable;
  }

  runtime::KernelCode* code_ = nullptr;
  AroundRun around_;
};

class WrappedKernel final : public runtime::Kernel {
public:
  WrappedKernel(std::unique_ptr<runtime::Kernel> kernel, const TensorFunction& function,
                MakeAround makeAround)
      : kernel_(std::move(kernel)), function_(function), makeAround_(std::move(makeAround)) {}

  runtime::KernelCode& codeFor(std::span<const int64_t> extents) override {
    code_.take(kernel_->codeFor(extents), makeAround_(function_, extents));
    return code_;
  }

private:
  std::unique_ptr<runtime::Kernel> kernel_;
  const TensorFunction& function_;
  MakeAround makeAround_;
  WrappedCode code_;
};

} // namespace

MakeKernel wrapped(MakeKernel makeKernel, MakeAround makeAround) {
  return [makeKernel = std::move(makeKernel), makeAround = std::move(makeAround)](
             const TensorFunction& function, std::span<const strips::SizedProgram> programs) {
    return std::make_unique<WrappedKernel>(makeKernel(function, programs), function, makeAround);
  };
}

} // namespace tensor
