// Two dimensions of a buffer as one. Elements lie where they lay, so a caller need not know of it.
#include "lower/loops/edit.h"
#include "lower/loops/read_form.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

void flatten(Nest& nest, Arguments arguments) {
  auto buffer = findBuffer(nest, arguments[0]);
  if (!buffer)
    refuse(fmt::format("there is no buffer `{}`", arguments[0]));
  std::vector<Form>& extents = nest.buffers[*buffer].extents;
  size_t second = size_t(numberAbove0(arguments[1])), first = second - 1;
  if (second >= extents.size())
    refuse(fmt::format("`{}` has {} dimensions", arguments[0], extents.size()));
  sizes::Table& table = nest.table;
  Form row = extents[second];
  auto flat = [&](Form outer, Form inner) { return table.sum(table.product(outer, row), inner); };
  forEachAccess(
      nest.body, *buffer,
      [&](std::vector<Form>& position) {
        position[first] = flat(position[first], position[second]);
        position.erase(position.begin() + ptrdiff_t(second));
      },
      [&](Operation& load) {
        auto isPlain = [](const Place& place) { return place.value == none && !place.isChecked; };
        if (!load.operands.empty() || !isPlain(load.places[first]) || !isPlain(load.places[second]))
          refuse("it is read at places that are values, or that may be outside");
        load.places[first] = {flat(load.places[first].form, load.places[second].form)};
        load.places.erase(load.places.begin() + ptrdiff_t(second));
      });
  extents[first] = table.product(extents[first], row);
  extents.erase(extents.begin() + ptrdiff_t(second));
}

} // namespace loops::rewrites
