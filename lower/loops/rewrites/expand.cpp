// Scratch of one iteration as scratch of all, so that the body of the loop can be cut.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops::rewrites {

void expand(Nest& nest, Arguments arguments) {
  uint32_t buffer = findScratch(nest, arguments[0]);
  Spot spot = findLoop(nest, arguments[1]);
  std::vector<Node>& body = spot.node().body;
  auto own = std::ranges::find_if(body, [&](const Node& node) {
    const auto* allocation = std::get_if<Allocation>(&node.what);
    return allocation && allocation->buffer == buffer;
  });
  if (own == body.end())
    refuse(fmt::format("`{}` is not allocated in the body of `{}`", arguments[0], arguments[1]));
  Form variable = variableForm(nest, spot.loop().variable);
  std::vector<Form>& extents = nest.buffers[buffer].extents;
  if (std::ranges::any_of(
          extents, [&](Form extent) { return nest.table.mentions(extent, spot.loop().variable); }))
    refuse(fmt::format("how large `{}` is hangs on `{}`", arguments[0], arguments[1]));
  extents.insert(extents.begin(), spot.loop().end);
  body.erase(own);
  forEachAccess(
      body, buffer,
      [&](std::vector<Form>& position) { position.insert(position.begin(), variable); },
      [&](Operation& load) { load.places.insert(load.places.begin(), Place{variable}); });
  spot.body->insert(spot.body->begin() + ptrdiff_t(spot.at), Node{Allocation{buffer}});
}

} // namespace loops::rewrites
