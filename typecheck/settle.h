// The end of a group: what stayed open is reported, becomes a parameter or a name, or is left to
// run time; then the types are written down.
#pragma once

#include "typecheck/group_sizes.h"

namespace typecheck {

/// Reports what nothing determined, causes before what follows from them: whatever was reported is
/// poisoned, so that its consequences settle silently.
void settle(Group& group, GroupSizes& sizes);

/// Writes the types of a settled group into the typing. Says whether a type that can be declared is
/// another one than was known.
bool writeTypes(Group& group);

} // namespace typecheck
