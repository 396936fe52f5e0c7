// The same extents, then a class that has them, then a plan.
#include "lower/kernel.h"

#include <algorithm>

namespace lower {

namespace {

/// Puts the element at `place` in front.
template <typename T>
T& used(std::vector<T>& list, size_t place) {
  std::rotate(list.begin(), list.begin() + ptrdiff_t(place), list.begin() + ptrdiff_t(place) + 1);
  return list.front();
}

} // namespace

size_t Kernel::Class::bytes() const {
  size_t bytes = sizeof *this + sizes.bytes();
  for (const auto& each : planned)
    bytes += each->runner.bytes();
  return bytes;
}

/// The runner that has the extents already, or null.
std::shared_ptr<Kernel::Planned> Kernel::known() {
  for (size_t i = 0; i < classes_.size(); ++i) {
    auto& planned = classes_[i]->planned;
    auto found =
        std::ranges::find(planned, extents_, [](const auto& each) -> const std::vector<int64_t>& {
          return each->extents;
        });
    if (found == planned.end())
      continue;
    used(classes_, i);
    return used(planned, size_t(found - planned.begin()));
  }
  return nullptr;
}

/// A runner of a class that was renewed for the extents. Some are kept, as sizes may alternate.
std::shared_ptr<Kernel::Planned> Kernel::renewed(Class& of) {
  constexpr size_t most = 4;
  auto& planned = of.planned;
  size_t place = planned.size();
  if (place >= most)
    while (place > 0 && planned[place - 1].use_count() > 1)
      --place;
  if (place == 0 || planned.size() < most) {
    planned.emplace_back(new Planned{{}, Runner(planned.front()->runner.program())});
    place = planned.size();
  }
  std::shared_ptr<Planned> renewed = used(planned, place - 1);
  // Until it has all numbers it is for no extents.
  renewed->extents.clear();
  renewed->runner.renew(of.sizes);
  renewed->extents = extents_;
  return renewed;
}

std::shared_ptr<Kernel::Planned> Kernel::plan(std::span<const runtime::Shape> inputs,
                                              std::span<const runtime::Shape> results) {
  auto made = std::make_unique<Class>(Sizes(extents_));
  Program program = makeProgram(function_, inputs, results, made->sizes);
  made->planned.emplace_back(new Planned{extents_, Runner(std::move(program))});
  ++plansMade_;
  classes_.insert(classes_.begin(), std::move(made));
  return classes_.front()->planned.front();
}

void Kernel::forgetOld() {
  constexpr size_t most = 16, mostBytes = size_t(16) << 20;
  size_t bytes = 0, kept = 0;
  for (; kept < std::min(classes_.size(), most); ++kept)
    if (bytes += classes_[kept]->bytes(); kept > 0 && bytes > mostBytes)
      break;
  classes_.resize(kept);
}

std::shared_ptr<Runner> Kernel::runnerFor(std::span<const runtime::Shape> inputs,
                                          std::span<const runtime::Shape> results) {
  extents_.clear();
  for (std::span<const runtime::Shape> shapes : {inputs, results})
    for (const runtime::Shape& shape : shapes)
      extents_.insert(extents_.end(), shape.begin(), shape.end());
  std::shared_ptr<Planned> found = known();
  for (size_t i = 0; !found && i < classes_.size(); ++i)
    if (classes_[i]->sizes.renew(extents_))
      found = renewed(*used(classes_, i));
  if (!found) {
    found = plan(inputs, results);
    forgetOld();
  }
  return {found, &found->runner};
}

} // namespace lower
