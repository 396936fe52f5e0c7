// Execution of a nest: registers, steps, loops.
//
// A StripRunner has its own registers and serves one thread. Every buffer is as long as the longest
// strip, so steps never check lengths.
#pragma once

#include "lower/strips/plan.h"
#include "runtime/pool.h"

namespace lower {

template <typename T>
using Pooled = std::vector<T, runtime::PoolAllocator<T>>;

class StripRunner {
public:
  /// `tensors` has the buffers of the program's tensors by number; it must outlive this. Throws
  /// std::bad_alloc.
  StripRunner(const Nest& nest, const std::byte* const* tensors);

  /// Evaluates the positions of the first output axis in [first, last) into `out`, the whole
  /// result's buffer; without output axes, the one element. False when there is a fault.
  bool runMap(int64_t first, int64_t last, std::byte* out);

  /// For callers that drive the chain themselves: the position along an axis; of a lane, the first
  /// position of the strip and its length.
  void setIndex(uint32_t axis, int64_t position) { index_[axis] = position; }
  void setStrip(uint32_t axis, int64_t first, size_t count) {
    index_[axis] = first;
    count_[axis] = count;
  }
  bool runBlock(uint32_t block);
  const std::byte* registerAt(uint32_t number) const { return registers_[number]; }

  /// What went wrong, after a function gave false.
  const std::string& problem() const { return problem_; }

private:
  size_t countOf(uint32_t lane) const { return lane == none ? 1 : count_[lane]; }
  int64_t valueOf(const Affine& form) const {
    int64_t value = form.constant.number;
    for (const AffineTerm& term : form.terms)
      value += term.coefficient.number * index_[term.axis];
    return value;
  }

  void setConstants();
  bool holdsNowhere(uint32_t mask) const;
  bool runStep(const Step& step);
  bool runLoop(const Block& block);
  void runAffine(const Step& step);
  void runApply(const Step& step);
  void runLoad(const Step& step);
  void loadIndexed(const Step& step, const GraphValue& load, int64_t first, size_t low,
                   size_t high);
  bool addSharedIndices(const GraphValue& load, int64_t& first) const;
  /// Whether all lanes have the same position.
  bool isShared(const IndexTerm& term) const { return nest_.registers[term.position].lane == none; }
  void runOutside(const Step& step);
  bool runCheck(const Step& step);
  void runReduction(const Step& step);
  void runStore(const Step& step);
  void boundLanes(const Step& step, const GraphValue& load, size_t& low, size_t& high) const;
  void describeFault(const Faultable& fault, size_t lane);
  int64_t elementOfIndex(uint32_t id, size_t lane) const;

  const Nest& nest_;
  const std::byte* const* tensors_;
  runtime::Block memory_;
  /// These lie in that block: per axis the position, and the length of the strip.
  int64_t* index_;
  size_t* count_;
  /// Where a register's elements are now: its own memory, or within a tensor.
  std::byte** registers_;
  std::byte** own_;
  Pooled<int64_t> offsets_;
  std::byte* out_ = nullptr;
  std::string problem_;
};

} // namespace lower
