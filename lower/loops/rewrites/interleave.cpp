// A dimension of scratch as groups of its elements, which lie side by side, each group an element
// of the last dimension.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

void interleave(Nest& nest, Arguments arguments) {
  uint32_t buffer = findScratch(nest, arguments[0]);
  std::vector<Form>& extents = nest.buffers[buffer].extents;
  size_t dimension = size_t(numberAbove0(arguments[1])) - 1;
  sizes::Table& table = nest.table;
  Form count = table.number(numberAbove0(arguments[2]));
  if (dimension >= extents.size())
    refuse(fmt::format("`{}` has {} dimensions", arguments[0], extents.size()));
  Form groups = table.quotient(extents[dimension], count);
  if (table.product(groups, count) != extents[dimension])
    refuse(fmt::format("`{}` is no multiple of {}", table.text(extents[dimension]), arguments[2]));
  extents[dimension] = groups;
  extents.push_back(count);
  forEachAccess(
      nest.body, buffer,
      [&](std::vector<Form>& position) {
        position.push_back(table.rest(position[dimension], count));
        position[dimension] = table.quotient(position[dimension], count);
      },
      [&](Operation& load) {
        for (const Place& place : load.places)
          if (place.value != none || place.isChecked || !load.operands.empty())
            refuse("it is read at places that are values, or that may be outside");
        Form place = load.places[dimension].form;
        load.places.push_back({table.rest(place, count)});
        load.places[dimension].form = table.quotient(place, count);
      });
}

} // namespace loops::rewrites
