// A call is made by strips once more where native code does not end well, so native code must not
// have written over its inputs by then.
#include "codegen/image/native_kernel.h"

#include "codegen/strips/kernel.h"
#include "runtime/threads.h"

#include <algorithm>

namespace codegen {

using runtime::Fault;

bool writesResults(const runtime::KernelCode& strips) {
  bool isWritten = !strips.problem() && !strips.results().empty();
  for (size_t i = 0; i < strips.results().size(); ++i)
    isWritten &= strips.results()[i].isWritten(i);
  return isWritten;
}

NativeCode::NativeCode(runtime::KernelCode& strips, size_t bytesMoved,
                       std::function<void()> ranByStrips)
    : strips_(strips), bytesMoved_(bytesMoved), ranByStrips_(std::move(ranByStrips)) {
  results_ = strips.results();
  cost_ = strips.cost();
}

void NativeCode::setNative(std::optional<NativeRun> native) {
  native_ = std::move(native);
  if (native_)
    keepSharable();
}

std::optional<Fault> NativeCode::run(std::span<const std::byte* const> inputs,
                                     std::span<std::byte* const> outputs) {
  // Where native code ends at a fault, strips have the words for it.
  if (native_ && native_->fits(inputs, outputs) &&
      native_->run(inputs, outputs, isLong() ? runtime::threadLimit() : 1, isLong()))
    return std::nullopt;
  auto fault = strips_.run(inputs, outputs);
  if (!native_ && ranByStrips_)
    ranByStrips_();
  return fault;
}

/// Whether a run is worth sharing: by what strips take, which is more, or by the time that memory
/// takes.
bool NativeCode::isLong() const {
  constexpr double nanosecondsWorthSharing = 50'000;
  constexpr size_t bytesWorthSharing = size_t(512) << 10;
  return cost_ > nanosecondsWorthSharing || bytesMoved_ > bytesWorthSharing;
}

/// Strips run stage by stage, so they may write over what a nest still reads.
void NativeCode::keepSharable() {
  for (uint32_t i = 0; i < results_.size(); ++i) {
    runtime::List<uint32_t> kept;
    for (uint32_t input : results_[i].replaceable)
      if (native_->mayShare(input, i))
        kept.push_back(input);
    results_[i].replaceable = std::move(kept);
  }
}

namespace {

class GivenKernel final : public runtime::Kernel {
public:
  GivenKernel(const tensor::TensorFunction& function,
              std::span<const strips::SizedProgram> programs,
              std::shared_ptr<const CompiledNest> code)
      : function_(function), strips_(strips::givenKernel(function, programs)),
        program_(programs.front()), native_(std::move(code)) {}

  runtime::KernelCode& codeFor(std::span<const int64_t> extents) override {
    if (code_ && std::ranges::equal(extents_, extents))
      return *code_;
    extents_.clear();
    extents_.append(extents);
    code_.reset();
    runtime::KernelCode& strips = strips_->codeFor(extents);
    runtime::List<int64_t> sizes;
    if (!writesResults(strips) || !strips::findSizes(program_, extents, sizes))
      return strips;
    code_ = std::make_unique<NativeCode>(strips, bytesMoved(function_, extents));
    code_->setNative(NativeRun(native_, std::move(sizes)));
    return *code_;
  }

private:
  const tensor::TensorFunction& function_;
  std::unique_ptr<runtime::Kernel> strips_;
  const strips::SizedProgram& program_;
  std::shared_ptr<const CompiledNest> native_;
  /// Those of the code.
  runtime::List<int64_t> extents_;
  std::unique_ptr<NativeCode> code_;
};

} // namespace

size_t bytesMoved(const tensor::TensorFunction& function, std::span<const int64_t> extents) {
  size_t bytes = 0;
  for (uint32_t tensor : tensor::givenTensors(function)) {
    const tensor::TensorInfo& info = function.tensors[tensor];
    auto own = extents.first(info.shape.size());
    bytes += size_t(runtime::elementCount(own).value_or(0)) * info.dtype.bytes();
    extents = extents.subspan(info.shape.size());
  }
  return bytes;
}

bool fits(const NestCode& code, const strips::SizedProgram& program) {
  return code.inputs == program.inputRanks.size() && code.outputs == program.results.size() &&
         code.sizes == program.program.sizeCount;
}

std::unique_ptr<runtime::Kernel> givenKernel(const tensor::TensorFunction& function,
                                             std::span<const strips::SizedProgram> programs,
                                             std::shared_ptr<const CompiledNest> code) {
  return std::make_unique<GivenKernel>(function, programs, std::move(code));
}

} // namespace codegen
