// Two dimensions of scratch in each other's place.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

void transpose(Nest& nest, Arguments arguments) {
  uint32_t buffer = findScratch(nest, arguments[0]);
  std::vector<Form>& extents = nest.buffers[buffer].extents;
  auto dimension = [&](const std::string& argument) {
    size_t place = size_t(numberAbove0(argument));
    if (place > extents.size())
      refuse(fmt::format("`{}` has {} dimensions", arguments[0], extents.size()));
    return place - 1;
  };
  size_t first = dimension(arguments[1]), second = dimension(arguments[2]);
  std::swap(extents[first], extents[second]);
  forEachAccess(
      nest.body, buffer,
      [&](std::vector<Form>& position) { std::swap(position[first], position[second]); },
      [&](Operation& load) { std::swap(load.places[first], load.places[second]); });
}

} // namespace loops::rewrites
