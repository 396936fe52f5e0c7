// A kernel compiles for a class of extents once; for classes beyond a few it leaves calls to
// strips.
#include "codegen/native/kernel.h"

#include "codegen/native/compiler.h"
#include "codegen/strips/compile/sized.h"
#include "lower/loops/sized_nest.h"
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
  NativeKernel(const tensor::TensorFunction& function, std::shared_ptr<Compiler> compiler)
      : function_(function), compiler_(std::move(compiler)),
        strips_(strips::makeKernel(function, {})) {}

  runtime::KernelCode& codeFor(std::span<const int64_t> extents) override {
    if (code_ && std::ranges::equal(extents_, extents))
      return *code_;
    extents_.assign(extents.begin(), extents.end());
    code_.reset();
    runtime::KernelCode& strips = strips_->codeFor(extents);
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
  /// Made once, whether there is code in the end or not.
  Compiler::Code known(const std::vector<int64_t>& pattern, int64_t least) {
    auto found = nests_.find(pattern);
    if (found != nests_.end())
      return found->second;
    if (nests_.size() >= mostNests)
      return nullptr;
    Compiler::Code made = compiler_->codeFor({function_, pattern, least});
    (made ? compiledCount : refusedCount)++;
    nests_.emplace(pattern, made);
    return made;
  }

  std::optional<NativeRun> nativeFor(std::span<const int64_t> extents) {
    std::vector<int64_t> numbers(extents.begin(), extents.end());
    std::vector<int64_t> pattern = loops::classOf(function_, extents);
    if (pattern != numbers)
      if (Compiler::Code code = known(pattern, loops::leastOfClass))
        return NativeRun(code, loops::sizesOf(pattern, extents));
    if (Compiler::Code code = known(numbers, 0))
      return NativeRun(code, {});
    return std::nullopt;
  }

  const tensor::TensorFunction& function_;
  std::shared_ptr<Compiler> compiler_;
  std::unique_ptr<runtime::Kernel> strips_;
  std::vector<int64_t> extents_;
  std::unique_ptr<NativeCode> code_;
  /// By pattern.
  std::map<std::vector<int64_t>, Compiler::Code> nests_;
};

} // namespace

NativeCounts nativeCounts() {
  return {compiledCount, foundCount(), refusedCount};
}

runtime::Result<tensor::TensorEngine> nativeEngine(const std::string& processor) {
  std::optional<Processor> target;
  if (!processor.empty()) {
    auto named = processorNamed(processor);
    if (!named)
      return named.failure();
    target = *std::move(named);
  }
  auto compiler = std::make_shared<Compiler>(std::move(target), DiskCache::usualFolder());
  tensor::MakeKernel makeKernel = [compiler](const tensor::TensorFunction& function,
                                             std::span<const strips::SizedProgram>) {
    return std::make_unique<NativeKernel>(function, compiler);
  };
  return tensor::TensorEngine{
      .compile = [makeKernel](tensor::TensorFunction function) {
        return tensor::codeOf(std::move(function), makeKernel);
      },
      .makeKernel = makeKernel,
      .prepare =
          [compiler](std::span<const tensor::TensorFunction* const> functions) {
            compiler->prepare(functions);
          },
      .note = [compiler] { return compiler->problem(); }};
}

} // namespace codegen
