// Kernels: tensor functions that code calls, on the values in its registers.
//
// A site is a tensor function over open extents with the way to its tensors and to the shapes of
// its results, so it serves all sizes without asking anybody. What a site is not made for, such as
// sizes that do not go together, is left to the host, which knows the words for it.
#pragma once

#include "lower/tensor/engine.h"
#include "vm/machine/heap.h"

namespace vm {

class KernelCall {
public:
  enum class Outcome { Done, Unfit, Fault };

  /// The site must outlive this, and so must the heap. `given` are the operands that are given up.
  /// What is sure to take more than so many nanoseconds is a fault of time. Where nobody makes
  /// kernels, no call fits.
  KernelCall(const KernelSite& site, std::span<const uint16_t> given, Heap& heap,
             tensor::MakeKernel makeKernel, double mostNanoseconds);

  /// Calls with the operands of the site, given by their registers; the result is owned. When it is
  /// done, those operands are given up. Throws std::bad_alloc.
  Outcome run(const Slot* registers, const uint16_t* operands, Slot& result);
  /// Whether the last run was one that somebody may have got tired of.
  bool takesLong() const { return takesLong_; }
  /// After Outcome::Fault.
  const runtime::Fault& fault() const { return fault_; }
  /// Gives up the results that it keeps to use them again.
  void forget();

private:
  /// Results of the last calls. One that nobody else refers to any more serves again.
  struct Kept {
    std::array<Object*, 2> objects = {};
    size_t next = 0;
  };

  struct Input {
    static constexpr bool movesAsBytes = true;

    /// In the call before; that of a scalar is always the same.
    runtime::SharedShape shape;
    /// Null for a scalar.
    const runtime::Tensor* tensor = nullptr;
    /// Whether it is a given operand itself, and the object, which then is.
    bool isGiven = false;
    Object* given = nullptr;
  };

  bool gather(const Slot* registers, const uint16_t* operands);
  bool takeShape(size_t i, const runtime::SharedShape& shape);
  Outcome choose();
  Outcome refuse(runtime::Fault fault);
  bool addResultExtents();
  bool makeOutputs();
  void makeOutput(size_t i);
  Object* replaceable(size_t i) const;
  Object* idle(size_t i);
  void releaseGiven(const Slot* registers, const uint16_t* operands);
  runtime::Tensor outputFor(size_t i) const;
  void keep(size_t i);
  void copyResults();
  Slot finish();
  void giveUpOutputs();

  const KernelSite& site_;
  std::span<const uint16_t> given_;
  Heap& heap_;
  std::unique_ptr<runtime::Kernel> kernel_;
  /// What computed the call before; null while the sizes at hand are others.
  runtime::KernelCode* code_ = nullptr;
  bool takesLong_ = false;
  double mostNanoseconds_;
  /// Whether results have elements of inputs or of each other.
  bool sharesResults_ = false;
  runtime::List<Input> inputs_;
  /// While code is looked for, those of the inputs, then of the results.
  runtime::List<int64_t> extents_;
  /// Of each input its elements.
  runtime::List<const std::byte*> from_;
  runtime::List<std::byte*> to_;
  /// Of each result its scalar or object, which is owned.
  runtime::List<Slot> made_;
  runtime::List<Kept> kept_;
  runtime::Fault fault_{};
};

} // namespace vm
