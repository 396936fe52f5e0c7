// Two loops as one over all pairs of their iterations.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

void merge(Nest& nest, Arguments arguments) {
  Spot spot = findLoop(nest, arguments[0]);
  sizes::Table& table = nest.table;
  Node outer = std::move(spot.node());
  Loop loop = std::get<Loop>(outer.what);
  Loop* inner = outer.body.size() == 1 ? std::get_if<Loop>(&outer.body[0].what) : nullptr;
  if (!inner || table.textOf(inner->variable) != arguments[1])
    refuse(fmt::format("`{}` is not alone in `{}`", arguments[1], arguments[0]));
  if (table.mentions(inner->end, loop.variable))
    refuse(fmt::format("where `{}` ends hangs on `{}`", arguments[1], arguments[0]));
  Name merged = freshVariable(nest, arguments[0] + arguments[1]);
  Form position = variableForm(nest, merged);
  std::vector<Node> body = std::move(outer.body[0].body);
  replaceNames(nest, body,
               {{loop.variable, table.quotient(position, inner->end)},
                {inner->variable, table.rest(position, inner->end)}});
  bool isParallel = loop.kind == RunKind::Parallel && inner->kind == RunKind::Parallel;
  spot.node() = {Loop{merged, table.product(loop.end, inner->end),
                      isParallel ? RunKind::Parallel : RunKind::Serial},
                 std::move(body)};
}

} // namespace loops::rewrites
