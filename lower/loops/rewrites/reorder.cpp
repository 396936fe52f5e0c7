// Two loops in the other order. Conditions that stand between them stay with the first.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

void reorder(Nest& nest, Arguments arguments) {
  Spot spot = findLoop(nest, arguments[0]);
  Node* between = &spot.node();
  while (between->body.size() == 1 && std::holds_alternative<Condition>(between->body[0].what))
    between = &between->body[0];
  Loop* inner = between->body.size() == 1 ? std::get_if<Loop>(&between->body[0].what) : nullptr;
  if (!inner || nest.table.textOf(inner->variable) != arguments[1])
    refuse(fmt::format("`{}` is not alone in `{}`", arguments[1], arguments[0]));
  if (nest.table.mentions(inner->end, spot.loop().variable))
    refuse(fmt::format("where `{}` ends hangs on `{}`", arguments[1], arguments[0]));
  Loop moved = *inner;
  std::vector<Node> body = std::move(between->body[0].body);
  between->body = std::move(body);
  std::vector<Node> around;
  around.push_back(std::move(spot.node()));
  spot.node() = {moved, std::move(around)};
}

} // namespace loops::rewrites
