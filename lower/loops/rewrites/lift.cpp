// A loop in front of another one that stands before it.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops::rewrites {

void lift(Nest& nest, Arguments arguments) {
  Spot first = findLoop(nest, arguments[0]), second = findLoop(nest, arguments[1]);
  if (first.body != second.body || second.at <= first.at)
    refuse(fmt::format("`{}` does not stand behind `{}` in the same body", arguments[1],
                       arguments[0]));
  std::vector<Node>& body = *first.body;
  auto from = body.begin() + ptrdiff_t(first.at), to = body.begin() + ptrdiff_t(second.at);
  // Scratch between them is allocated before both.
  auto isAllocation = [](const Node& node) { return std::holds_alternative<Allocation>(node.what); };
  auto loop = std::stable_partition(from, to, isAllocation);
  std::rotate(loop, to, to + 1);
}

} // namespace loops::rewrites
