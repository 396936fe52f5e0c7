// One tensor function over open extents as something to call: a plan is made for a class of extents
// (size.h), and given the numbers of each call. Plans are kept while they are used.
#pragma once

#include "lower/strips/runner.h"

namespace lower {

class Kernel final : public runtime::Kernel {
public:
  /// The function must outlive this.
  explicit Kernel(const tensor::TensorFunction& function) : function_(function) {}

  Runner& codeFor(std::span<const int64_t> extents) override;
  /// How many plans were made.
  size_t plansMade() const { return plansMade_; }

private:
  /// A plan, its class, and the extents whose numbers it has.
  struct Planned {
    List<int64_t> extents;
    Sizes sizes;
    Runner runner;
  };

  bool findKnown(std::span<const int64_t> extents);
  bool findOfClass(std::span<const int64_t> extents);
  void plan(std::span<const int64_t> extents);
  void use(size_t place);
  void forgetOld();

  const tensor::TensorFunction& function_;
  /// The last used in front.
  List<std::unique_ptr<Planned>> planned_;
  size_t plansMade_ = 0;
};

std::unique_ptr<runtime::Kernel> makeKernel(const tensor::TensorFunction& function);

} // namespace lower
