// A loop as two over the same iterations, each with a part of the body.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

void fission(Nest& nest, Arguments arguments) {
  Spot spot = findLoop(nest, arguments[0]);
  size_t count = size_t(numberAbove0(arguments[1]));
  Node& first = spot.node();
  if (count >= first.body.size())
    refuse(fmt::format("`{}` has {} nodes in its body", arguments[0], first.body.size()));
  Loop loop = spot.loop();
  std::vector<Node> rest(std::make_move_iterator(first.body.begin() + ptrdiff_t(count)),
                         std::make_move_iterator(first.body.end()));
  first.body.resize(count);
  Name variable = freshVariable(nest, arguments[0]);
  replaceNames(nest, rest, {{loop.variable, variableForm(nest, variable)}});
  loop.variable = variable;
  spot.body->insert(spot.body->begin() + ptrdiff_t(spot.at) + 1, Node{loop, std::move(rest)});
}

} // namespace loops::rewrites
