// Where those who call kernels meet what makes them: code that computes tensors from tensors, whose
// elements are in memory one after the other.
//
// A caller has a kernel, asks it for the code for the sizes at hand, sees what the results are, and
// runs the code as often as it has tensors of these sizes. It knows nothing of how code is made.
#pragma once

#include "runtime/fault.h"
#include "runtime/list.h"
#include "runtime/tensor.h"

#include <optional>
#include <span>

namespace runtime {

/// Where the elements of a result come from: an input or an earlier result has them in the same
/// order, or, when `index` is the result's own, the run writes them.
struct ResultSource {
  bool isInput;
  uint32_t index;
};

struct CodeResult {
  static constexpr bool movesAsBytes = true;

  DType type;
  SharedShape shape = nullptr;
  /// How many elements.
  int64_t size = 0;
  ResultSource source;
  /// The inputs in whose memory it may be computed, if nobody needs them any more and no two inputs
  /// lie in it: each is of its type and shape, and no element is read once one is written at its
  /// place.
  List<uint32_t> replaceable = {};

  bool isWritten(size_t number) const { return !source.isInput && source.index == number; }
};

/// A tensor function for sizes that are known. Serves one run at a time.
class KernelCode {
public:
  /// Why there is no code, and no results then either; null when there is.
  const Fault* problem() const { return problem_.problem.empty() ? nullptr : &problem_; }
  const List<CodeResult>& results() const { return results_; }
  /// About how many nanoseconds a run takes.
  double cost() const { return cost_; }
  /// About how much memory it takes.
  size_t bytes() const { return bytes_; }

  /// Computes the results that are written into `outputs`, whose other entries are not looked at;
  /// the inputs are of the types and sizes that the code was made for. A fault is a division by
  /// zero, a position outside a tensor, no memory, or a function that is not well formed.
  virtual std::optional<Fault> run(std::span<const std::byte* const> inputs,
                                   std::span<std::byte* const> outputs) = 0;

protected:
  ~KernelCode() = default;

  Fault problem_{FaultKind::Internal, {}};
  List<CodeResult> results_;
  double cost_ = 0;
  size_t bytes_ = 0;
};

/// A tensor function for any sizes.
class Kernel {
public:
  virtual ~Kernel() = default;

  /// The code for these extents of its inputs and then of its results, one after the other. It is
  /// for them until the kernel is asked again.
  virtual KernelCode& codeFor(std::span<const int64_t> extents) = 0;
};

} // namespace runtime
