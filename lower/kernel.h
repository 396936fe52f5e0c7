// One tensor function over open extents as something to call: a plan is made for a class of extents
// (size.h), and given the numbers of each call. Plans are kept while they are used.
#pragma once

#include "lower/runner.h"

namespace lower {

class Kernel {
public:
  /// Extents that the function leaves open are given by the inputs' shapes and the results'.
  explicit Kernel(tensor::TensorFunction function) : function_(std::move(function)) {}

  /// What computes the function for these shapes, and no others as long as it is held. It serves
  /// one run at a time.
  std::shared_ptr<Runner> runnerFor(std::span<const runtime::Shape> inputs,
                                    std::span<const runtime::Shape> results);
  /// How many plans were made.
  size_t plansMade() const { return plansMade_; }

private:
  /// A plan, its class, and the extents whose numbers it has.
  struct Planned {
    List<int64_t> extents;
    Sizes sizes;
    Runner runner;
  };

  bool findKnown();
  bool findOfClass();
  void plan(std::span<const runtime::Shape> inputs, std::span<const runtime::Shape> results);
  void use(size_t place);
  void forgetOld();

  tensor::TensorFunction function_;
  /// The last used in front.
  List<std::shared_ptr<Planned>> planned_;
  /// Those of the call.
  List<int64_t> extents_;
  size_t plansMade_ = 0;
};

} // namespace lower
