// Numbers for extents, then a plan.
#include "lower/kernel.h"

namespace lower {

size_t Kernel::Key::hash() const {
  size_t hash = 0;
  for (int64_t extent : extents)
    hash = hash * 31 + size_t(extent);
  return hash;
}

std::shared_ptr<Runner> Kernel::runnerFor(std::span<const runtime::Shape> inputs,
                                          std::span<const runtime::Shape> results) {
  constexpr size_t most = 64, mostBytes = size_t(16) << 20;
  Key key;
  for (std::span<const runtime::Shape> shapes : {inputs, results})
    for (const runtime::Shape& shape : shapes)
      key.extents.insert(key.extents.end(), shape.begin(), shape.end());
  auto planned = planned_.find(key);
  if (!planned) {
    Program program = makeProgram(binder_.bind(inputs, results));
    planned.reset(new Planned{std::move(key), Runner(std::move(program))});
    planned_.add(planned, most, mostBytes);
  }
  return {planned, &planned->runner};
}

} // namespace lower
