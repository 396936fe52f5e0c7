// What the machine's programs go through before they are compiled.
#pragma once

#include "driver/session.h"

namespace driver {

/// Fuses the program's chains of functions over data. A program without any stays what it is.
void fuseChains(Session& session, Program& program);

} // namespace driver
