// Forms of Baton's notation as Relay's text has them: by matches, operators and numbers.
#pragma once

#include "tests/harness/program.h"

#include <functional>

namespace harness {

/// The text of a node of such a form, whose parts `expr` writes.
std::string plainForm(const Program& program, NodeId id,
                      const std::function<std::string(NodeId)>& expr);

} // namespace harness
