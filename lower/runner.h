// Running a program: the strips of plan.h, stage by stage.
//
// A runner keeps what its runs need, and what they take and give back comes from pools, so that
// from the second run on nothing is asked of the system. It serves one run at a time; the threads
// that a large stage is shared among are its own affair.
#pragma once

#include "lower/plan.h"
#include "lower/tensor_eval_strip.h"
#include "runtime/fault.h"
#include "runtime/tensor.h"

namespace lower {

/// Where the elements of a result come from: an input or an earlier result has them in the same
/// order, or, when `index` is the result's own, the run writes them.
struct ResultSource {
  bool isInput;
  uint32_t index;
};

class Runner {
public:
  explicit Runner(Program program);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  const Program& program() const { return program_; }
  const std::vector<ResultSource>& sources() const { return sources_; }
  /// The element type and shape of a result.
  runtime::DType resultType(size_t i) const { return program_.tensors[program_.results[i]].dtype; }
  const runtime::SharedShape& resultShape(size_t i) const { return resultShapes_[i]; }
  int64_t resultSize(size_t i) const { return program_.tensors[program_.results[i]].count; }
  /// The inputs in whose memory a result may be computed, if nobody needs them any more and no two
  /// inputs lie in it: each is of its type and shape, and no element is read once one is written at
  /// its place.
  const std::vector<uint32_t>& replaceable(size_t i) const { return replaceable_[i]; }
  /// About how many nanoseconds a run takes.
  double cost() const { return cost_; }
  /// About how much memory it takes.
  size_t bytes() const;

  /// Computes the results that are written into `outputs`, whose other entries are not looked at;
  /// the inputs are of the types that the program was made for. A fault is a division by zero, a
  /// position outside a tensor, no memory, or a function that is not well formed.
  std::optional<runtime::Fault> run(std::span<const std::byte* const> inputs,
                                    std::span<std::byte* const> outputs);

private:
  void findSources();
  void findReplaceable();
  bool isReadInPlace(const StagePlan& stage, uint32_t input) const;
  void planScratch();
  void placeScratch(std::byte* scratch);
  uint32_t rootOf(uint32_t tensor) const { return roots_[tensor]; }
  std::optional<runtime::Fault> runStage(size_t number);
  std::optional<runtime::Fault> runMap(size_t number, const Nest& nest, std::byte* out);

  Program program_;
  std::vector<ResultSource> sources_;
  std::vector<runtime::SharedShape> resultShapes_;
  std::vector<std::vector<uint32_t>> replaceable_;
  /// Per tensor the one that it is a new shape of, or itself.
  std::vector<uint32_t> roots_;
  /// Per tensor its place in the scratch memory, or none.
  static constexpr size_t nowhere = SIZE_MAX;
  std::vector<size_t> offsets_;
  size_t scratchBytes_ = 0;
  double cost_ = 0;
  const PlanTensor* largest_ = nullptr;
  std::vector<std::byte*> buffers_;
  /// Per stage, from its first run on.
  std::vector<std::unique_ptr<StripRunner>> strips_;
};

} // namespace lower
