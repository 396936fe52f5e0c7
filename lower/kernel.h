// One tensor function over open extents as something to call: a plan is made for a class of extents
// (size.h), and given the numbers of a call. Runners are kept while they are used.
#pragma once

#include "lower/runner.h"

namespace lower {

class Kernel {
public:
  /// Extents that the function leaves open are given by the inputs' shapes and the results'.
  explicit Kernel(tensor::TensorFunction function) : function_(std::move(function)) {}

  /// What computes the function for these shapes; it serves one run at a time, and only as long as
  /// it is held are its numbers those of the shapes.
  std::shared_ptr<Runner> runnerFor(std::span<const runtime::Shape> inputs,
                                    std::span<const runtime::Shape> results);
  /// How many plans were made.
  size_t plansMade() const { return plansMade_; }

private:
  struct Planned {
    std::vector<int64_t> extents;
    Runner runner;
  };
  /// A plan's class, and runners for some of its numbers, the last used in front.
  struct Class {
    Sizes sizes;
    std::vector<std::shared_ptr<Planned>> planned = {};

    size_t bytes() const;
  };

  std::shared_ptr<Planned> known();
  std::shared_ptr<Planned> renewed(Class& of);
  std::shared_ptr<Planned> plan(std::span<const runtime::Shape> inputs,
                                std::span<const runtime::Shape> results);
  void forgetOld();

  tensor::TensorFunction function_;
  /// The last used in front.
  std::vector<std::unique_ptr<Class>> classes_;
  /// Those of the call.
  std::vector<int64_t> extents_;
  size_t plansMade_ = 0;
};

} // namespace lower
