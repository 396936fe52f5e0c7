// The same extents, then a class that has them, then a plan. What is found is put in front.
#include "lower/strips/kernel.h"

#include <algorithm>

namespace lower {

void Kernel::use(size_t place) {
  std::rotate(planned_.begin(), planned_.begin() + ptrdiff_t(place),
              planned_.begin() + ptrdiff_t(place) + 1);
}

bool Kernel::findKnown(std::span<const int64_t> extents) {
  for (size_t i = 0; i < planned_.size(); ++i)
    if (std::ranges::equal(planned_[i]->extents, extents)) {
      use(i);
      return true;
    }
  return false;
}

bool Kernel::findOfClass(std::span<const int64_t> extents) {
  for (size_t i = 0; i < planned_.size(); ++i) {
    Planned& planned = *planned_[i];
    if (!planned.sizes.renew(extents))
      continue;
    // Until it has all numbers it is for no extents.
    planned.extents.clear();
    planned.runner.renew(planned.sizes);
    planned.extents.append(extents);
    use(i);
    return true;
  }
  return false;
}

void Kernel::plan(std::span<const int64_t> extents) {
  Sizes sizes(extents);
  Program program = makeProgram(function_, sizes);
  planned_.push_back(std::unique_ptr<Planned>(
      new Planned{List<int64_t>(extents), std::move(sizes), Runner(std::move(program))}));
  ++plansMade_;
  use(planned_.size() - 1);
  forgetOld();
}

void Kernel::forgetOld() {
  constexpr size_t most = 64, mostBytes = size_t(16) << 20;
  size_t bytes = 0, kept = 0;
  for (; kept < std::min(planned_.size(), most); ++kept) {
    bytes += planned_[kept]->runner.bytes() + planned_[kept]->sizes.bytes();
    if (kept > 0 && bytes > mostBytes)
      break;
  }
  planned_.resize(kept);
}

Runner& Kernel::codeFor(std::span<const int64_t> extents) {
  if (!findKnown(extents) && !findOfClass(extents))
    plan(extents);
  return planned_.front()->runner;
}

std::unique_ptr<runtime::Kernel> makeKernel(const tensor::TensorFunction& function) {
  return std::unique_ptr<runtime::Kernel>(new Kernel(function));
}

} // namespace lower
