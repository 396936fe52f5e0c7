// Running a program: the strips of plan.h, stage by stage.
//
// A runner keeps what its runs need, and what they take and give back comes from pools, so that
// from the second run on nothing is asked of the system. It serves one run at a time; the threads
// that a large stage is shared among are its own affair.
#pragma once

#include "lower/strips/plan.h"
#include "lower/strips/tensor_eval_strip.h"
#include "runtime/kernel_code.h"

namespace lower {

class Runner final : public runtime::KernelCode {
public:
  explicit Runner(Program program);
  /// Takes the numbers that `sizes`, which has the class of the program, was renewed for.
  void renew(const Sizes& sizes);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// About how much memory it takes.
  size_t bytes() const;

  std::optional<runtime::Fault> run(std::span<const std::byte* const> inputs,
                                    std::span<std::byte* const> outputs) override;

private:
  void takeNumbers();
  bool hasScratch() const;
  void planScratch();
  void placeScratch(std::byte* scratch);
  uint32_t rootOf(uint32_t tensor) const { return program_.roots[tensor]; }
  std::optional<runtime::Fault> runStage(size_t number);
  std::optional<runtime::Fault> runMap(size_t number, const Nest& nest, std::byte* out);

  Program program_;
  /// Those of the program.
  List<Size*> openSizes_;
  /// Per tensor its place in the scratch memory, or none.
  static constexpr size_t nowhere = SIZE_MAX;
  List<size_t> offsets_;
  size_t scratchBytes_ = 0;
  const PlanTensor* largest_ = nullptr;
  List<std::byte*> buffers_;
  /// Per stage, from its first run on.
  List<std::unique_ptr<StripRunner>> strips_;
};

} // namespace lower
