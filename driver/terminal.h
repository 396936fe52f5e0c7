// Standard input, output and error of the process.
#pragma once

#include "driver/commands.h"

namespace driver {

/// Colour and progress as standard error allows: a terminal, and no `NO_COLOR`.
Look lookOfTerminal();

/// Writes the texts of an answer and gives the exit code of the process.
int finish(const Answer& answer);

} // namespace driver
