// What the places of a nest know.
#include "lower/loops/nest.h"

namespace loops {

sizes::Facts factsOf(Nest& nest) {
  sizes::Facts facts(nest.table);
  for (const Assumption& assumption : nest.sizes)
    facts.assume(assumption.size, assumption.least, assumption.multiple);
  return facts;
}

void enter(sizes::Facts& facts, sizes::Table& table, const Node& node) {
  if (const auto* loop = std::get_if<Loop>(&node.what))
    facts.enter(loop->variable, loop->end);
  else if (const auto* condition = std::get_if<Condition>(&node.what))
    facts.hold(table.sum(table.sum(condition->right, condition->left, -1), table.number(1), -1));
}

} // namespace loops
