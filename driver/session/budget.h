// Limits on what makes a program ready.
#pragma once

#include "driver/session/answer.h"
#include "driver/session/options.h"
#include "driver/session/session.h"
#include "runtime/function_ref.h"

namespace driver {

/// Does the work within the limits of a run; false when they are spent, and the answer says so, or
/// when the work stopped after a pass (shown_passes.h).
bool withinLimits(const runtime::RunLimits& limits, const Session& session, const Look& look,
                  Answer& answer, runtime::FunctionRef<void()> work);

} // namespace driver
