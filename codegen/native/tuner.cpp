// A schedule that comes again, from other choices, is not measured again.
#include "codegen/native/tuner.h"

#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"
#include "runtime/threads.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace codegen {

namespace {

using Clock = std::chrono::steady_clock;
using loops::Space;

/// What must be gained to win, so that noise does not.
constexpr double worthwhile = 0.97;
/// Runs of each in a comparison, and how long they take together at most.
constexpr size_t fewestRuns = 5, mostRuns = 200;
constexpr double secondsOfComparison = 0.08;

/// Elements between 0 and 1, or numbers that are 0 or 1.
void fill(std::span<std::byte> bytes, runtime::DType type, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  const size_t size = type.bytes();
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    state = state * 6364136223846793005 + 1442695040888963407;
    uint64_t bits = state >> 40, element = bits & 1;
    if (type == runtime::Float32)
      element = 0x3f000000 | bits >> 1;
    else if (type == runtime::Float64)
      element = 0x3fe0000000000000 | bits << 20;
    else if (type.isFloat())
      element = (type == runtime::Float16 ? 0x3800 : 0x3f00) | (bits & 0x7f);
    std::memcpy(&bytes[at], &element, size);
  }
}

/// A buffer of a nest, at the beginning of a line of a cache.
struct Memory {
  explicit Memory(size_t count) : bytes(count + alignment), size(count) {}
  std::span<std::byte> span() {
    auto at = reinterpret_cast<uintptr_t>(bytes.data());
    return {bytes.data() + (alignment - at % alignment) % alignment, size};
  }

  static constexpr size_t alignment = 64;
  std::vector<std::byte> bytes;
  size_t size;
};

/// The bytes of a buffer whose extents are numbers; nothing where they are not, or are very many.
std::optional<size_t> bytesOf(const loops::Nest& nest, const loops::Buffer& buffer) {
  constexpr int64_t most = int64_t(1) << 32;
  auto bytes = int64_t(buffer.dtype.bytes());
  for (loops::Form extent : buffer.extents) {
    auto count = nest.table.constantOf(extent);
    if (!count || *count < 0 || (*count > 0 && bytes > most / *count))
      return std::nullopt;
    bytes *= *count;
  }
  return size_t(bytes);
}

/// Memory for the inputs and outputs of a nest.
class Buffers {
public:
  explicit Buffers(const loops::Nest& nest) {
    for (const loops::Buffer& buffer : nest.buffers) {
      if (buffer.space == Space::Scratch)
        continue;
      auto bytes = bytesOf(nest, buffer);
      isComplete_ &= bytes.has_value();
      Memory& memory = memories_.emplace_back(bytes.value_or(0));
      if (buffer.space == Space::Input) {
        fill(memory.span(), buffer.dtype, memories_.size());
        inputs_.push_back(memory.span().data());
      } else {
        outputs_.push_back(memory.span().data());
      }
    }
  }

  bool isComplete() const { return isComplete_; }
  /// The time of a run; nothing where it meets a fault.
  std::optional<double> timed(NativeRun& run) {
    auto start = Clock::now();
    if (!run.run(inputs_, outputs_, runtime::threadLimit()))
      return std::nullopt;
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  bool isComplete_ = true;
  std::vector<Memory> memories_;
  std::vector<const std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
};

struct Candidate {
  loops::Choices choices;
  loops::Scheduled made;
  std::shared_ptr<const CompiledNest> code;
};

std::string textOf(const loops::Scheduled& made) {
  std::string text;
  for (const loops::Step& step : made.steps)
    text += loops::textOf(step) + "\n";
  return text;
}

} // namespace

std::string Tuned::summary() const {
  if (secondsAfter == secondsBefore)
    return fmt::format("{:.4g} ms, which no other of {} schedules beats", secondsBefore * 1e3,
                       tried);
  return fmt::format("{:.4g} ms became {:.4g} ms, the best of {} schedules", secondsBefore * 1e3,
                     secondsAfter * 1e3, tried);
}

class Tuner::Search {
public:
  Search(const loops::Nest& nest, const Processor& processor) : nest_(nest), processor_(processor) {
    takeMemory();
    auto made = nest.sizes.empty() && buffers_->isComplete() ? chosen({}) : std::nullopt;
    auto seconds = made && made->code ? secondsOf(*made) : std::nullopt;
    if (seconds) {
      first_ = best_ = *std::move(made);
      seconds_ = *seconds;
    }
    buffers_.reset();
  }

  bool isPossible() const { return best_.code != nullptr; }
  double seconds() const { return seconds_; }
  const std::shared_ptr<const CompiledNest>& code() const { return best_.code; }

  Tuned run(const std::string& known, const std::function<bool()>& isOver) {
    takeMemory();
    if (auto earlier = rewritten(known))
      compare(*std::move(earlier));
    while (turnKnobs(isOver)) {
    }
    double after = best_.code == first_.code ? 1 : ratio(best_, first_);
    // What won by little once may have won by chance.
    if (after >= 1) {
      best_ = first_;
      after = 1;
    }
    buffers_.reset();
    std::string text = loops::textOf(nest_);
    return {text.substr(0, text.find('\n')), seconds_, seconds_ * after, known_.size(),
            textOf(best_.made)};
  }

private:
  void takeMemory() { buffers_.emplace(nest_); }

  /// Tries each value of each knob once, until it is over; whether one gained and it may go on.
  bool turnKnobs(const std::function<bool()>& isOver) {
    bool hasGained = false;
    for (const loops::Knob& knob : loops::knobs())
      for (int64_t value : knob.values) {
        if (isOver())
          return false;
        loops::Choices choices = best_.choices;
        choices.*knob.choice = value;
        if (auto next = chosen(choices))
          hasGained |= compare(*std::move(next));
      }
    return hasGained;
  }

  /// Takes a candidate for the best where it is faster; whether it was.
  bool compare(Candidate next) {
    if (!next.code || ratio(next, best_) >= worthwhile)
      return false;
    best_ = std::move(next);
    return true;
  }

  std::optional<Candidate> chosen(const loops::Choices& choices) {
    loops::MachineModel machine = modelOf(processor_);
    machine.choices = choices;
    return compiled(choices, loops::scheduled(nest_, machine));
  }

  /// By the steps of a text; nothing where one does not apply.
  std::optional<Candidate> rewritten(const std::string& schedule) {
    auto steps = loops::scheduleOf(schedule);
    if (!steps || steps->empty())
      return std::nullopt;
    loops::Scheduled made{nest_, {}};
    loops::simplify(made.nest);
    for (loops::Step& step : *steps) {
      auto next = loops::rewritten(made.nest, step);
      if (!next)
        return std::nullopt;
      made.nest = *std::move(next);
      made.steps.push_back(std::move(step));
    }
    return compiled({}, std::move(made));
  }

  /// Nothing for a schedule that was tried before.
  std::optional<Candidate> compiled(const loops::Choices& choices, loops::Scheduled made) {
    if (!known_.insert(textOf(made)).second)
      return std::nullopt;
    auto code = compileNest(made.nest, processor_);
    return Candidate{choices, std::move(made), code ? *code : nullptr};
  }

  std::optional<double> secondsOf(const Candidate& candidate) {
    NativeRun run(candidate.code, {});
    std::optional<double> least;
    for (size_t i = 0; i < fewestRuns; ++i) {
      auto seconds = buffers_->timed(run);
      if (!seconds)
        return std::nullopt;
      least = std::min(*seconds, least.value_or(*seconds));
    }
    return least;
  }

  /// The best run of one over that of another, in turns.
  double ratio(const Candidate& one, const Candidate& other) {
    NativeRun first(one.code, {}), second(other.code, {});
    double least = 1e300, leastOther = 1e300, sum = 0;
    for (size_t i = 0; i < mostRuns && (i < fewestRuns || sum < secondsOfComparison); ++i) {
      auto seconds = buffers_->timed(first), others = buffers_->timed(second);
      if (!seconds || !others)
        return 1e300;
      // The first run of each finds caches cold.
      if (i == 0)
        continue;
      least = std::min(least, *seconds);
      leastOther = std::min(leastOther, *others);
      sum += *seconds + *others;
    }
    return least / leastOther;
  }

  const loops::Nest& nest_;
  const Processor& processor_;
  /// Only while something is measured: a program may have many large kernels.
  std::optional<Buffers> buffers_;
  Candidate first_, best_;
  double seconds_ = 0;
  /// Texts of schedules.
  std::set<std::string> known_;
};

Tuner::Tuner(const loops::Nest& nest, const Processor& processor)
    : search_(std::make_unique<Search>(nest, processor)) {}
Tuner::~Tuner() = default;
Tuner::Tuner(Tuner&&) noexcept = default;

bool Tuner::isPossible() const {
  return search_->isPossible();
}

double Tuner::seconds() const {
  return search_->seconds();
}

Tuned Tuner::search(const std::string& known, const std::function<bool()>& isOver) {
  return search_->run(known, isOver);
}

std::shared_ptr<const CompiledNest> Tuner::code() const {
  return search_->code();
}

} // namespace codegen
