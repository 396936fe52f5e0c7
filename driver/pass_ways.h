// The passes that the options of `baton opt` ask for, and what they are run on.
#pragma once

#include "driver/commands.h"
#include "driver/session/session.h"

namespace driver {

/// Where a run takes programs through passes for.
inline constexpr std::string_view forMachine = "machine", forDerivatives = "derivatives";

/// Why the options cannot be followed, or an empty text.
std::string passProblem(const OptOptions& options);

/// Takes a program through the passes; what stands in the way is in the answer.
void runPassesOf(Session& session, Program& program, const OptOptions& options, const Look& look,
                 Answer& answer);

} // namespace driver
