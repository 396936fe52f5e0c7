// How the command line runs passes.
#pragma once

#include "driver/session/session.h"
#include "transform/run_passes.h"

namespace driver {

/// With all that passes ask of other folders. Entries, findings and the session must outlive it.
transform::RunOptions passOptions(const Session& session, transform::Entries entries,
                                  lang::Diagnostics& findings);

/// Goes on with what passes or a step made of a sound program, if anything; that they made nothing
/// of it for a reason is a fault of ours, and thrown.
void goOn(Program& program, runtime::Checked<transform::TypedModule> made);

} // namespace driver
