// A loop as pieces of a fixed number of iterations.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

namespace loops::rewrites {

void split(Nest& nest, Arguments arguments) {
  Spot spot = findLoop(nest, arguments[0]);
  sizes::Table& table = nest.table;
  Form piece = table.number(numberAbove0(arguments[1]));
  Node node = std::move(spot.node());
  Loop loop = std::get<Loop>(node.what);
  Form pieces = spot.facts.simplified(table.pieces(loop.end, piece));
  Name outer = freshVariable(nest, arguments[0] + "o"),
       inner = freshVariable(nest, arguments[0] + "i");
  Form position =
      table.sum(table.product(variableForm(nest, outer), piece), variableForm(nest, inner));
  replaceNames(nest, node.body, {{loop.variable, position}});
  if (!spot.facts.areSame(table.product(pieces, piece), loop.end)) {
    std::vector<Node> body;
    body.push_back({Condition{position, loop.end}, std::move(node.body)});
    node.body = std::move(body);
  }
  std::vector<Node> pieceOf;
  pieceOf.push_back({Loop{inner, piece, RunKind::Serial}, std::move(node.body)});
  spot.node() = {Loop{outer, pieces, loop.kind == RunKind::Parallel ? loop.kind : RunKind::Serial},
                 std::move(pieceOf)};
}

} // namespace loops::rewrites
