// A kernel compiles for a class of extents once; for classes beyond a few it leaves calls to
// strips.
#include "codegen/native/kernel.h"

#include "codegen/image/native_kernel.h"
#include "codegen/native/compiler.h"
#include "codegen/strips/compile/sized.h"
#include "lower/loops/sized_nest.h"
#include "lower/tensor/access.h"

#include <algorithm>
#include <atomic>
#include <map>

namespace codegen {

namespace {

/// Compiling takes milliseconds, so there are few nests of one function.
constexpr size_t mostNests = 8;

/// Strips take about as long as it takes to compile a kernel for a call or a few, and other
/// processes will find it in the cache.
constexpr double nanosecondsThatPay = 10e6;
/// A guess of the points of a function that strips take so long for.
constexpr double pointsThatPay = 50e6;

std::atomic<size_t> compiledCount = 0, refusedCount = 0;

/// Looks for native code once calls by strips, and the next one, take `patience` nanoseconds by the
/// estimate of strips: so what a program gives hangs neither on the clock nor on what a cache has.
class NativeKernel final : public runtime::Kernel {
public:
  NativeKernel(const tensor::TensorFunction& function,
               std::span<const strips::SizedProgram> programs, std::shared_ptr<Compiler> compiler,
               const NativeOptions& options)
      : function_(function), compiler_(std::move(compiler)), numbers_(options.numbers),
        patience_(options.when == When::Always ? 0 : nanosecondsThatPay),
        strips_(strips::kernelMaker(options.numbers)(function, programs)) {}

  runtime::KernelCode& codeFor(std::span<const int64_t> extents) override {
    if (code_ && std::ranges::equal(extents_, extents))
      return *code_;
    extents_.assign(extents.begin(), extents.end());
    code_.reset();
    runtime::KernelCode& strips = strips_->codeFor(extents);
    if (!writesResults(strips))
      return strips;
    code_ = std::make_unique<NativeCode>(strips, bytesMoved(function_, extents), [this] {
      patience_ -= code_->cost();
      takeUpNative();
    });
    isAsked_ = false;
    takeUpNative();
    return *code_;
  }

private:
  void takeUpNative() {
    if (isAsked_ || code_->cost() < patience_)
      return;
    isAsked_ = true;
    code_->setNative(nativeFor(extents_));
  }

  /// Made once, whether there is code in the end or not.
  Compiler::Code known(const std::vector<int64_t>& pattern, int64_t least) {
    auto found = nests_.find(pattern);
    if (found != nests_.end())
      return found->second;
    if (nests_.size() >= mostNests)
      return nullptr;
    Compiler::Code made = compiler_->codeFor({function_, pattern, least, numbers_});
    (made ? compiledCount : refusedCount)++;
    nests_.emplace(pattern, made);
    return made;
  }

  std::optional<NativeRun> nativeFor(std::span<const int64_t> extents) {
    std::vector<int64_t> numbers(extents.begin(), extents.end());
    std::vector<int64_t> pattern = loops::classOf(function_, extents);
    if (pattern != numbers)
      if (Compiler::Code code = known(pattern, loops::leastOfClass))
        return NativeRun(code, runtime::List<int64_t>(loops::sizesOf(pattern, extents)));
    if (Compiler::Code code = known(numbers, 0))
      return NativeRun(code, {});
    return std::nullopt;
  }

  const tensor::TensorFunction& function_;
  std::shared_ptr<Compiler> compiler_;
  loops::Numbers numbers_;
  /// What is left of it.
  double patience_;
  /// Whether there was a look for native code for the extents at hand.
  bool isAsked_ = false;
  std::unique_ptr<runtime::Kernel> strips_;
  std::vector<int64_t> extents_;
  std::unique_ptr<NativeCode> code_;
  /// By pattern.
  std::map<std::vector<int64_t>, Compiler::Code> nests_;
};

/// How often loops of a function run, of those whose ends are numbers.
double pointsOf(const tensor::TensorFunction& function) {
  auto countOf = [](std::span<const tensor::LoopAxis> axes) {
    double count = 1;
    for (const tensor::LoopAxis& axis : axes)
      if (const auto* end = axis.extent->as<tensor::ScalarNumber>())
        count *= double(end->integer);
    return count;
  };
  double points = 0;
  for (const tensor::Stage& stage : function.stages) {
    double summed = 1;
    if (stage.body)
      tensor::forEachNode(stage.body, [&](const tensor::ScalarNode& node) {
        if (const auto* reduce = node.as<tensor::ScalarReduce>())
          summed += countOf(reduce->axes);
      });
    points += countOf(stage.axes) * summed;
  }
  return points;
}

} // namespace

NativeCounts nativeCounts() {
  return {compiledCount, foundCount(), refusedCount};
}

runtime::Result<tensor::TensorEngine> nativeEngine(const NativeOptions& options) {
  std::optional<Processor> target;
  if (!options.processor.empty()) {
    auto named = processorNamed(options.processor);
    if (!named)
      return named.failure();
    target = *std::move(named);
  }
  auto compiler = std::make_shared<Compiler>(std::move(target), DiskCache::usualFolder());
  tensor::MakeKernel makeKernel = [compiler,
                                   options](const tensor::TensorFunction& function,
                                            std::span<const strips::SizedProgram> programs) {
    return std::make_unique<NativeKernel>(function, programs, compiler, options);
  };
  return tensor::TensorEngine{
      .makeKernel = makeKernel,
      .prepare =
          [compiler, options](std::span<const tensor::TensorFunction* const> functions) {
            if (options.tuneSeconds > 0)
              for (const Tuned& each : compiler->tune(functions, options.numbers,
                                                      options.tuneSeconds, options.isEnough))
                if (options.tuned)
                  options.tuned(each);
            std::vector<const tensor::TensorFunction*> likely(functions.begin(), functions.end());
            if (options.when == When::ItPays)
              std::erase_if(likely, [](const tensor::TensorFunction* function) {
                return pointsOf(*function) < pointsThatPay;
              });
            compiler->prepare(likely, options.numbers);
          },
      .note = [compiler] { return compiler->problem(); }};
}

} // namespace codegen
