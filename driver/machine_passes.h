// What the machine's programs go through before they are compiled.
#pragma once

#include "driver/session.h"
#include "transform/passes.h"

namespace driver {

/// Fuses the program's chains of functions over data, opens calls of small quiet functions, and
/// gives functions the fields of tuples that they only take apart. The globals of these names are
/// what is run. A program without any stays what it is. With `keepsCalls`, for whoever counts
/// calls, none of those is opened.
void runMachinePasses(Session& session, Program& program, transform::Entries entries,
                      bool keepsCalls = false);

} // namespace driver
