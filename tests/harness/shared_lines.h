// Where graph lines are bound in Baton's notation. Relay's text lets a line be used after its block
// has ended, and in other definitions; here its name is in scope in its block alone. So it stands
// in the innermost expression around its uses, and a definition has its own ones of what it shares
// with others, which compute the same.
#pragma once

#include "tests/harness/program.h"

#include <map>

namespace harness {

/// The numbers of the lines to be bound in an expression: in front of an item of a block, or, of
/// anything else, item 0, in front of it.
using SharedLines = std::map<NodeId, std::map<size_t, std::vector<std::string>>>;

/// The values of the lines by their numbers.
std::map<std::string, NodeId> lineValues(const Program& program);

/// The lines of a definition.
SharedLines placeLines(const Program& program, const Definition& definition);

} // namespace harness
