// Two loops as one over all pairs of their iterations. Two coordinates of a sum that these were are
// one then, too.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

namespace {

/// Makes one coordinate of two that are the quotient and the rest of a variable.
void joinCoordinates(Statement& statement, const Reduced& whole, const Reduced& rest,
                     const Reduced& both) {
  auto isSame = [&](const Reduced& a, const Reduced& b) {
    return a.position == b.position && a.extent == b.extent;
  };
  std::vector<Reduced>& reduced = statement.reduced;
  for (size_t i = 0; i + 1 < reduced.size(); ++i)
    if (isSame(reduced[i], whole) && isSame(reduced[i + 1], rest)) {
      reduced[i] = both;
      reduced.erase(reduced.begin() + ptrdiff_t(i) + 1);
      return;
    }
}

} // namespace

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
  Reduced whole{table.quotient(position, inner->end), loop.end},
      rest{table.rest(position, inner->end), inner->end};
  Form end = table.product(loop.end, inner->end);
  replaceNames(nest, body, {{loop.variable, whole.position}, {inner->variable, rest.position}});
  forEachNode(body, [&](Node& node) {
    if (auto* statement = std::get_if<Statement>(&node.what))
      joinCoordinates(*statement, whole, rest, {position, end});
  });
  bool isParallel = loop.kind == RunKind::Parallel && inner->kind == RunKind::Parallel;
  spot.node() = {Loop{merged, end, isParallel ? RunKind::Parallel : RunKind::Serial},
                 std::move(body)};
}

} // namespace loops::rewrites
