// Kernels: tensor functions that code calls, on the values in its registers.
//
// A site is a tensor function over open extents with the way to its tensors and to the shapes of
// its results, so it serves all sizes without asking anybody. What a site is not made for, such as
// sizes that do not go together, is left to the host, which knows the words for it.
#pragma once

#include "lower/kernel.h"
#include "tensor/shape_function.h"
#include "vm/heap.h"

namespace vm {

class KernelCall {
public:
  enum class Outcome { Done, Unfit, Fault };

  /// The site must outlive this.
  explicit KernelCall(const KernelSite& site);

  /// Calls with the operands of the site, which it only looks at; the result is owned. Throws
  /// std::bad_alloc.
  Outcome run(std::span<const Slot> operands, Heap& heap, Slot& result);
  /// Whether the last run was one that somebody may have got tired of.
  bool takesLong() const { return runner_->cost() > 1e5; }
  /// After Outcome::Fault.
  const runtime::Fault& fault() const { return fault_; }

private:
  bool gather(std::span<const Slot> operands);
  bool choose();
  std::optional<std::vector<int64_t>> resultExtents() const;
  bool makeOutputs();
  void makeOutput(size_t i);
  runtime::Tensor outputFor(size_t i) const;
  void copyResults();
  Slot slotOf(size_t i, Heap& heap);
  Slot finish(Heap& heap);

  const KernelSite& site_;
  lower::Kernel kernel_;
  /// What computed the call before; null while the sizes at hand are others.
  std::shared_ptr<lower::Runner> runner_;
  /// The extents of the inputs in one row.
  std::vector<int64_t> extents_;
  /// Of each input its elements, and the tensor that it is, unless it is a scalar.
  std::vector<const std::byte*> from_;
  std::vector<const runtime::Tensor*> tensors_;
  std::vector<std::byte*> to_;
  std::vector<std::optional<runtime::Tensor>> made_;
  std::vector<Slot> scalars_;
  runtime::Fault fault_{};
};

} // namespace vm
