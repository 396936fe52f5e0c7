// From the words of a command line to an answer.
#pragma once

#include "driver/commands.h"

namespace driver {

/// Runs one command. Whatever goes wrong, also memory or a fault of Baton, is in the answer.
Answer runCommandLine(int count, const char* const* words, const Look& look);

} // namespace driver
