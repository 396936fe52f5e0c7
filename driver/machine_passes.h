// What the machine's programs go through before they are compiled.
#pragma once

#include "driver/session.h"

namespace driver {

/// Fuses the program's chains of functions over data, and gives functions the fields of tuples that
/// they only take apart. The global of that name is what is run. A program without any stays what it
/// is.
void runMachinePasses(Session& session, Program& program, std::string_view entry);

} // namespace driver
