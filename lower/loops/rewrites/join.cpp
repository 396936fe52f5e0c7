// Two loops that follow each other as one. Allocations between them go in front.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops::rewrites {

void join(Nest& nest, Arguments arguments) {
  Spot spot = findLoop(nest, arguments[0]);
  size_t next = spot.at + 1;
  while (next < spot.body->size() && std::holds_alternative<Allocation>((*spot.body)[next].what))
    ++next;
  Loop* second = next < spot.body->size() ? std::get_if<Loop>(&(*spot.body)[next].what) : nullptr;
  if (!second || nest.table.textOf(second->variable) != arguments[1])
    refuse(fmt::format("`{}` does not follow `{}`", arguments[1], arguments[0]));
  if (!spot.facts.areSame(spot.loop().end, second->end))
    refuse(fmt::format("`{}` runs {} times, and `{}` {} times", arguments[0],
                       nest.table.text(spot.loop().end), arguments[1],
                       nest.table.text(second->end)));
  std::vector<Node> body = std::move((*spot.body)[next].body);
  replaceNames(nest, body, {{second->variable, variableForm(nest, spot.loop().variable)}});
  if (second->kind != spot.loop().kind)
    spot.loop().kind = RunKind::Serial;
  std::vector<Node>& joined = spot.node().body;
  joined.insert(joined.end(), std::make_move_iterator(body.begin()),
                std::make_move_iterator(body.end()));
  auto first = spot.body->begin() + ptrdiff_t(spot.at);
  auto end = spot.body->erase(spot.body->begin() + ptrdiff_t(next));
  std::rotate(first, first + 1, end);
}

} // namespace loops::rewrites
