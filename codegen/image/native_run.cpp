// Parts run one after the other; pointers of scratch stand behind those of inputs and outputs.
#include "codegen/image/native_run.h"

#include "runtime/pool.h"
#include "runtime/threads.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

namespace codegen {

namespace {

constexpr size_t alignment = 64;

size_t aligned(size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The iterations of a loop in pieces. Each thread has a share of its own, the same one in every
/// run, so that what it reads there stays in its caches, and helps the others when that is done.
class Pieces {
public:
  Pieces(int64_t iterations, size_t threads, bool goBack)
      : iterations_(iterations), threads_(int64_t(threads)), goBack_(goBack),
        perThread_(std::max<int64_t>(1, std::min(iterations / threads_, mostOfThread))) {}

  /// The piece, as begin and end, that a thread does next; none when all are done.
  std::optional<std::pair<int64_t, int64_t>> next(size_t thread) {
    for (int64_t i = 0; i < threads_; ++i) {
      const int64_t share = (int64_t(thread) + i) % threads_;
      if (taken_[size_t(share)].load(std::memory_order_relaxed) >= perThread_)
        continue;
      int64_t number = taken_[size_t(share)].fetch_add(1);
      if (number >= perThread_)
        continue;
      if (goBack_)
        number = perThread_ - 1 - number;
      return std::pair(bound(share * perThread_ + number), bound(share * perThread_ + number + 1));
    }
    return std::nullopt;
  }

private:
  static constexpr int64_t mostOfThread = 8;

  int64_t bound(int64_t piece) const {
    const int64_t pieces = threads_ * perThread_;
    return iterations_ / pieces * piece + iterations_ % pieces * piece / pieces;
  }

  const int64_t iterations_, threads_;
  const bool goBack_;
  const int64_t perThread_;
  std::array<std::atomic<int64_t>, runtime::mostThreads> taken_ = {};
};

} // namespace

std::shared_ptr<const CompiledNest> loaded(NestCode code) {
  auto image = LoadedImage::load(code.image);
  if (!image)
    return nullptr;
  auto made = std::make_shared<CompiledNest>();
  for (const CodePart& part : code.parts) {
    if (part.entry >= image->entryCount())
      return nullptr;
    made->parts.push_back(reinterpret_cast<PartFunction*>(image->entry(part.entry)));
  }
  made->code = std::move(code);
  made->image = std::move(image);
  return made;
}

std::shared_ptr<const CompiledNest> linked(NestCode code,
                                           std::span<PartFunction* const> functions) {
  auto made = std::make_shared<CompiledNest>();
  for (const CodePart& part : code.parts) {
    if (part.entry >= functions.size())
      return nullptr;
    made->parts.push_back(functions[part.entry]);
  }
  made->code = std::move(code);
  return made;
}

NativeRun::NativeRun(std::shared_ptr<const CompiledNest> nest, runtime::List<int64_t> sizes)
    : nest_(std::move(nest)), sizes_(std::move(sizes)) {
  const auto values = valuesOf(nest_->code.steps, sizes_);
  for (const CodePart& part : nest_->code.parts) {
    auto count = part.iterations != CodePart::once ? values[part.iterations] : 1;
    isRunnable_ &= count.has_value();
    iterations_.push_back(std::max<int64_t>(0, count.value_or(0)));
  }
  isRunnable_ &= placeScratch(values);
}

bool NativeRun::placeScratch(std::span<const std::optional<int64_t>> values) {
  constexpr int64_t most = int64_t(1) << 48;
  for (const CodeScratch& scratch : nest_->code.scratch) {
    auto elements = values[scratch.elements];
    size_t& end = scratch.isPrivate ? privateBytes_ : sharedBytes_;
    if (!elements || *elements > most || end > size_t(most))
      return false;
    scratch_.push_back({end, scratch.isPrivate});
    end += aligned(size_t(std::max<int64_t>(0, *elements)) * scratch.elementBytes);
  }
  return true;
}

bool NativeRun::mayShare(size_t input, size_t output) const {
  return std::ranges::any_of(nest_->code.sharable, [&](const CodeSharing& pair) {
    return pair.input == input && pair.output == output;
  });
}

bool NativeRun::fits(std::span<const std::byte* const> inputs,
                     std::span<std::byte* const> outputs) const {
  for (size_t input = 0; input < inputs.size(); ++input)
    for (size_t output = 0; output < outputs.size(); ++output)
      if (inputs[input] == outputs[output] && !mayShare(input, output))
        return false;
  return true;
}

bool NativeRun::runInPieces(PartFunction* part, int64_t iterations) {
  Pieces pieces(iterations, pointers_.size(), goesBack_);
  std::atomic<size_t> helpers = 1;
  std::atomic<bool> isFault = false;
  const auto caller = std::this_thread::get_id();
  runtime::shareWork(unsigned(pointers_.size()), [&] {
    const size_t self = std::this_thread::get_id() == caller ? 0 : helpers++;
    const runtime::List<std::byte*>& own = pointers_[self];
    while (auto piece = pieces.next(self))
      if (isFault || part(own.data(), sizes_.data(), piece->first, piece->second) != 0) {
        isFault = true;
        return;
      }
  });
  return !isFault;
}

bool NativeRun::runPart(size_t number, bool isLong) {
  PartFunction* part = nest_->parts[number];
  int64_t iterations = iterations_[number];
  if (nest_->code.parts[number].iterations != CodePart::once && iterations > 1 &&
      (pointers_.size() > 1 || isLong))
    return runInPieces(part, iterations);
  return part(pointers_[0].data(), sizes_.data(), 0, iterations) == 0;
}

bool NativeRun::run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                    unsigned threads, bool isLong) {
  if (!isRunnable_)
    return false;
  goesBack_ = isLong && !goesBack_;
  try {
    runtime::Block shared(sharedBytes_), own(privateBytes_ * threads);
    pointers_.resize(threads);
    for (size_t i = 0; i < threads; ++i) {
      pointers_[i].resize(inputs.size() + outputs.size() + scratch_.size());
      auto next = pointers_[i].begin();
      for (const std::byte* input : inputs)
        *next++ = const_cast<std::byte*>(input);
      next = std::ranges::copy(outputs, next).out;
      for (const Scratch& scratch : scratch_)
        *next++ =
            (scratch.isPrivate ? own.bytes() + i * privateBytes_ : shared.bytes()) + scratch.offset;
    }
    for (size_t i = 0; i < nest_->parts.size(); ++i)
      if (!runPart(i, isLong))
        return false;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

} // namespace codegen
