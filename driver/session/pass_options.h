// How the command line runs passes.
#pragma once

#include "driver/session/session.h"
#include "transform/run_passes.h"

namespace driver {

/// With all that passes ask of other folders. Entries, findings and the session must outlive it.
transform::RunOptions passOptions(const Session& session, transform::Entries entries,
                                  lang::Diagnostics& findings);

} // namespace driver
