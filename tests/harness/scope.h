// Which names an expression needs, and whether a changed program still binds what it uses.
#pragma once

#include "tests/harness/program.h"

#include <map>
#include <set>

namespace harness {

/// Graph lines by number, with the locals that their values need.
using GraphNeeds = std::map<std::string, std::set<std::string>>;

/// The locals that an expression mentions and does not bind itself; a graph line that it mentions
/// counts with the locals that its value needs. `graphs` has the lines that were bound before.
std::set<std::string> freeLocals(const Program& program, NodeId id, const GraphNeeds& graphs);

/// Whether every name is bound where it is used: locals in scope, graph lines after their binding
/// and with their locals in scope, globals that are defined.
bool isWellScoped(const Program& program);

} // namespace harness
