// A kernel compiles for a class of extents once; for classes beyond a few it leaves calls to strips.
#include "codegen/native/kernel.h"

#include "codegen/llvm/library.h"
#include "codegen/native/native_code.h"
#include "lower/loops/sized_nest.h"
#include "lower/strips/engine.h"
#include "lower/strips/kernel.h"
#include "runtime/threads.h"

#include <algorithm>
#include <atomic>
#include <map>

namespace codegen {

namespace {

using runtime::Fault;

/// Compiling takes milliseconds, so there are few nests of one function.
constexpr size_t mostNests = 8;

std::atomic<size_t> compiledCount = 0, refusedCount = 0;

/// Strips that know the results, and native code for some extents, if there is.
class NativeCode final : public runtime::KernelCode {
public:
  explicit NativeCode(runtime::KernelCode& strips) : strips_(strips) {
    results_ = strips.results();
    cost_ = strips.cost();
  }

  void setNative(std::optional<NativeRun> native) {
    native_ = std::move(native);
    if (native_)
      keepSharable();
  }

  std::optional<Fault> run(std::span<const std::byte* const> inputs,
                           std::span<std::byte* const> outputs) override {
    // Where native code ends at a fault, strips have the words for it.
    if (native_ && native_->fits(inputs, outputs) && native_->run(inputs, outputs, threads()))
      return std::nullopt;
    return strips_.run(inputs, outputs);
  }

private:
  /// By what strips take, which is more.
  unsigned threads() const {
    constexpr double worthSharing = 50'000;
    return cost_ > worthSharing ? runtime::threadLimit() : 1;
  }

  /// Strips run stage by stage, so they may write over what a nest still reads.
  void keepSharable() {
    for (uint32_t i = 0; i < results_.size(); ++i) {
      runtime::List<uint32_t> kept;
      for (uint32_t input : results_[i].replaceable)
        if (native_->mayShare(input, i))
          kept.push_back(input);
      results_[i].replaceable = std::move(kept);
    }
  }

  runtime::KernelCode& strips_;
  std::optional<NativeRun> native_;
};

class NativeKernel final : public runtime::Kernel {
public:
  explicit NativeKernel(const tensor::TensorFunction& function)
      : function_(function), strips_(function) {}

  runtime::KernelCode& codeFor(std::span<const int64_t> extents) override {
    if (code_ && std::ranges::equal(extents_, extents))
      return *code_;
    extents_.assign(extents.begin(), extents.end());
    code_.reset();
    runtime::KernelCode& strips = strips_.codeFor(extents);
    bool isWritten = !strips.results().empty();
    for (size_t i = 0; i < strips.results().size(); ++i)
      isWritten &= strips.results()[i].isWritten(i);
    if (strips.problem() || !isWritten)
      return strips;
    code_ = std::make_unique<NativeCode>(strips);
    code_->setNative(nativeFor(extents));
    return *code_;
  }

private:
  using Compiled = std::shared_ptr<const CompiledNest>;

  Compiled compile(const runtime::Checked<loops::SizedNest>& nest) {
    if (!nest)
      return nullptr;
    auto compiled = compileChosen(nest->nest);
    return compiled ? *compiled : nullptr;
  }

  /// Compiled once, whether there is code in the end or not.
  template <typename Make>
  Compiled known(std::map<std::vector<int64_t>, Compiled>& nests, std::vector<int64_t> key,
                 Make&& make) {
    auto found = nests.find(key);
    if (found != nests.end())
      return found->second;
    if (nests.size() >= mostNests)
      return nullptr;
    Compiled made = compile(make());
    (made ? compiledCount : refusedCount)++;
    nests.emplace(std::move(key), made);
    return made;
  }

  std::optional<NativeRun> nativeFor(std::span<const int64_t> extents) {
    if (Compiled nest = known(ofClass_, loops::classOf(function_, extents),
                              [&] { return loops::nestOfClass(function_, extents); }))
      return NativeRun(nest, loops::sizesOfClass(function_, extents));
    if (std::ranges::equal(loops::classOf(function_, extents), extents))
      return std::nullopt;
    if (Compiled nest = known(ofNumbers_, {extents.begin(), extents.end()},
                              [&] { return loops::nestOfNumbers(function_, extents); }))
      return NativeRun(nest, {});
    return std::nullopt;
  }

  const tensor::TensorFunction& function_;
  lower::Kernel strips_;
  std::vector<int64_t> extents_;
  std::unique_ptr<NativeCode> code_;
  std::map<std::vector<int64_t>, Compiled> ofClass_, ofNumbers_;
};

/// A function of numbers, with its kernel; serves whoever comes, one after the other.
struct OwnedKernel {
  explicit OwnedKernel(tensor::TensorFunction of) : function(std::move(of)), kernel(function) {
    auto add = [&](uint32_t tensor) {
      for (const tensor::ScalarNode* extent : function.tensors[tensor].shape)
        extents.push_back(extent->as<tensor::ScalarNumber>()->integer);
    };
    for (uint32_t i = 0; i < function.inputCount; ++i)
      add(i);
    std::ranges::for_each(function.results, add);
  }

  const tensor::TensorFunction function;
  NativeKernel kernel;
  std::vector<int64_t> extents;
};

tensor::TensorCode compileNatively(tensor::TensorFunction function) {
  auto expected = tensor::inputTypes(function);
  auto owned = std::make_shared<OwnedKernel>(std::move(function));
  return {[owned, expected](std::span<const runtime::Value> inputs,
                            std::vector<runtime::Value>& outputs) -> std::optional<Fault> {
    if (auto fault = tensor::inputFault(expected, inputs))
      return fault;
    return tensor::runOn(owned->kernel.codeFor(owned->extents), inputs, outputs);
  }};
}

} // namespace

std::unique_ptr<runtime::Kernel> makeNativeKernel(const tensor::TensorFunction& function) {
  return std::make_unique<NativeKernel>(function);
}

NativeCounts nativeCounts() {
  return {compiledCount, refusedCount};
}

runtime::Result<tensor::TensorEngine> nativeEngine() {
  auto processor = hostProcessor();
  if (!processor)
    return processor.failure();
  return tensor::TensorEngine{.compile = compileNatively, .makeKernel = makeNativeKernel};
}

} // namespace codegen
