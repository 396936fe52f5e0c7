// From the words of a command line to an answer.
#pragma once

#include "driver/commands.h"

namespace driver {

/// Runs one command. Whatever goes wrong, also memory or a fault of Baton, is in the answer.
Answer runCommandLine(int count, const char* const* words, const Look& look);

/// Colour and progress as standard error allows: a terminal, and no `NO_COLOR`.
Look lookOfTerminal();

/// Writes the texts of an answer and gives the exit code of the process.
int finish(const Answer& answer);

} // namespace driver
