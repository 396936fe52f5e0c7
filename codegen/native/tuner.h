// A search for the schedule of a nest that runs fastest on the processor at hand.
#pragma once

#include "codegen/native/native_code.h"
#include "lower/loops/choose.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace codegen {

/// What a search found of one nest.
struct Tuned {
  /// `kernel(x0: float32[...]) -> (y0: ...)`.
  std::string nest;
  /// Of a call, in turns: as chosen without measuring, and with the best schedule.
  double secondsBefore = 0, secondsAfter = 0;
  size_t tried = 0;
  /// Steps of the best schedule, a line each.
  std::string schedule;

  /// How it went, in words.
  std::string summary() const;
};

/// Tries schedules of one nest whose sizes are numbers, beginning with the one that choosers find,
/// then with one choice after another changed (lower/loops/choices.h), each compiled and measured
/// in turns with the best so far. What is slower by the clock alone, on a machine that does other
/// things, does not win: each is taken by its best run.
class Tuner {
public:
  /// Measures the schedule that is chosen. Both must outlive this.
  Tuner(const loops::Nest& nest, const Processor& processor);
  ~Tuner();
  Tuner(Tuner&&) noexcept;

  /// Whether there is code for the nest that runs on numbers between 0 and 1.
  bool isPossible() const;
  /// Of a call as it was chosen, in seconds.
  double seconds() const;
  /// Goes on until nothing gains any more, or it is asked to end. `known` is a schedule that an
  /// earlier search found, or empty.
  Tuned search(const std::string& known, const std::function<bool()>& isOver);
  /// Of the best schedule.
  std::shared_ptr<const CompiledNest> code() const;

private:
  class Search;
  std::unique_ptr<Search> search_;
};

} // namespace codegen
