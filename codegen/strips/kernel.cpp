// The same extents, then a class that has them, then a new program. What is found is put in front.
#include "codegen/strips/kernel.h"

#include "codegen/strips/cost.h"
#include "lower/tensor/given.h"

#include <algorithm>

namespace strips {

namespace {

size_t bytesOf(const Program& program) {
  return program.code.size() * sizeof(Instruction) + program.numbers.size() * sizeof(int64_t) +
         program.kernels.size() * (sizeof(KernelName) + sizeof(Kernel)) +
         program.accesses.size() * sizeof(Access) + program.places.size() * sizeof(Place) +
         program.contractions.size() * sizeof(Contraction) + program.axes.size() * sizeof(Axis) +
         (program.buffers.size() + program.registers.size()) * sizeof(BufferInfo);
}

} // namespace

SizedCode::SizedCode(SizedProgram sized, bool isForeign)
    : sized_(std::move(sized)), linked_(linked(std::move(sized_.program), isForeign)) {
  sized_.program.sizeCount = linked_.program.sizeCount;
  buffers_.resize(linked_.program.givenBuffers);
  bytes_ = sizeof *this + bytesOf(linked_.program);
  for (const ProgramResult& result : sized_.results)
    results_.push_back(
        {.type = result.type, .source = result.source, .replaceable = result.replaceable});
}

SizedCode::SizedCode(runtime::Fault problem) {
  problem_ = std::move(problem);
}

bool SizedCode::isFor(std::span<const int64_t> extents) const {
  return !ready_.empty() && std::ranges::equal(ready_[now_].extents, extents);
}

bool SizedCode::take(std::span<const int64_t> extents) {
  if (problem() || !findSizes(sized_, extents, sizes_))
    return false;
  if (!isReadyFor(extents) && !makeReady(extents))
    return false;
  const Ready& ready = ready_[now_];
  cost_ = ready.cost;
  for (size_t i = 0; i < results_.size(); ++i) {
    results_[i].shape = ready.shapes[i];
    results_[i].size = ready.counts[i];
  }
  return true;
}

bool SizedCode::isReadyFor(std::span<const int64_t> extents) {
  for (size_t i = 0; i < ready_.size(); ++i)
    if (std::ranges::equal(ready_[i].extents, extents)) {
      now_ = i;
      return true;
    }
  return false;
}

/// Works out what hangs on extents; false where the program cannot be for them.
bool SizedCode::makeReady(std::span<const int64_t> extents) {
  Ready ready{.extents = List<int64_t>(extents), .prepared = prepared(linked_.program, sizes_)};
  ready.cost = costOf(linked_.program, ready.prepared);
  // What loops inside of others do is estimated by their first time.
  constexpr double doubt = 64, most = 1e15;
  ready.prepared.mostIterations = 100'000'000 + int64_t(std::min(ready.cost * doubt, most));
  if (!findShapes(ready) || !isConsistent(ready))
    return false;
  constexpr size_t mostKept = 8;
  if (ready_.size() < mostKept) {
    now_ = ready_.size();
    ready_.push_back(std::move(ready));
  } else {
    now_ = (now_ + 1) % mostKept;
    ready_[now_] = std::move(ready);
  }
  return true;
}

/// Finds the shapes of results, and the bytes of all that is given; false where these cannot be
/// counted.
bool SizedCode::findShapes(Ready& ready) const {
  std::span<const int64_t> left(ready.extents);
  for (size_t i = 0; i < linked_.program.givenBuffers; ++i) {
    bool isInput = i < sized_.inputRanks.size();
    size_t rank =
        isInput ? sized_.inputRanks[i] : sized_.results[i - sized_.inputRanks.size()].rank;
    runtime::Shape shape(left.begin(), left.begin() + ptrdiff_t(rank));
    left = left.subspan(rank);
    auto elements = runtime::elementCount(shape);
    auto size = int64_t(lower::elementBytes(linked_.program.buffers[i].element));
    if (!elements || *elements > INT64_MAX / size)
      return false;
    ready.bufferBytes.push_back(*elements * size);
    if (isInput)
      continue;
    ready.shapes.push_back(runtime::shared(std::move(shape)));
    ready.counts.push_back(*elements);
  }
  return true;
}

/// Whether what lies in the same memory is of the same size; somebody may have made it up.
bool SizedCode::isConsistent(const Ready& ready) const {
  size_t inputs = sized_.inputRanks.size();
  for (size_t i = 0; i < results_.size(); ++i) {
    auto [isInput, index] = results_[i].source;
    size_t source = isInput ? index : inputs + index;
    auto isAsLong = [&](size_t buffer) {
      return ready.bufferBytes[buffer] == ready.bufferBytes[inputs + i] &&
             linked_.program.buffers[buffer].element == linked_.program.buffers[inputs + i].element;
    };
    if (!isAsLong(source) || !std::ranges::all_of(results_[i].replaceable, isAsLong))
      return false;
  }
  return true;
}

std::optional<runtime::Fault> SizedCode::run(std::span<const std::byte* const> inputs,
                                             std::span<std::byte* const> outputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    buffers_[i] = const_cast<std::byte*>(inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto [isInput, index] = results_[i].source;
    buffers_[inputs.size() + i] = isInput      ? buffers_[index]
                                  : index == i ? outputs[i]
                                               : buffers_[inputs.size() + index];
  }
  const Ready& ready = ready_[now_];
  return strips::run(linked_, ready.prepared, buffers_, ready.bufferBytes);
}

ProgramKernel::ProgramKernel(const tensor::TensorFunction& function,
                             std::span<const SizedProgram> given, MakeProgram make)
    : function_(function), make_(make) {
  for (const SizedProgram& program : given)
    codes_.push_back(std::make_unique<SizedCode>(program, true));
}

std::unique_ptr<runtime::Kernel> givenKernel(const tensor::TensorFunction& function,
                                             std::span<const SizedProgram> programs) {
  return std::make_unique<ProgramKernel>(function, programs, nullptr);
}

SizedCode& ProgramKernel::codeFor(std::span<const int64_t> extents) {
  size_t place = 0;
  while (place < codes_.size() && !codes_[place]->isFor(extents))
    ++place;
  if (place == codes_.size())
    for (place = 0; place < codes_.size() && !codes_[place]->take(extents);)
      ++place;
  if (place < codes_.size()) {
    std::rotate(codes_.begin(), codes_.begin() + ptrdiff_t(place),
                codes_.begin() + ptrdiff_t(place) + 1);
    return *codes_.front();
  }
  auto refuse = [&](runtime::Fault problem) -> SizedCode& {
    return add(std::make_unique<SizedCode>(std::move(problem)));
  };
  if (auto problem = tensor::uncounted(function_, extents))
    return refuse(*std::move(problem));
  if (!make_)
    return refuse({runtime::FaultKind::Internal, "there is no program for these sizes"});
  auto made = make_(function_, extents);
  if (!made)
    return refuse({runtime::FaultKind::Internal, made.failure().text});
  ++programsMade_;
  auto code = std::make_unique<SizedCode>(*std::move(made), false);
  if (!code->take(extents))
    return refuse({runtime::FaultKind::Internal, "a program is for other sizes"});
  return add(std::move(code));
}

SizedCode& ProgramKernel::add(std::unique_ptr<SizedCode> code) {
  // One that says what is wrong is made anew each time.
  if (!codes_.empty() && codes_.front()->problem())
    codes_.erase(codes_.begin(), codes_.begin() + 1);
  codes_.push_back(std::move(code));
  std::rotate(codes_.begin(), codes_.end() - 1, codes_.end());
  if (make_)
    forgetOld();
  return *codes_.front();
}

void ProgramKernel::forgetOld() {
  constexpr size_t most = 64, mostBytes = size_t(16) << 20;
  size_t bytes = 0, kept = 0;
  for (; kept < std::min(codes_.size(), most); ++kept) {
    bytes += codes_[kept]->bytes();
    if (kept > 0 && bytes > mostBytes)
      break;
  }
  codes_.resize(kept);
}

} // namespace strips
