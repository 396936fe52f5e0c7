// Out of time is the program's business, out of memory the world's, as it is for runs.
#include "driver/session/budget.h"

#include "driver/session/fault_text.h"
#include "driver/session/shown_passes.h"
#include "runtime/budget.h"

namespace driver {

bool withinLimits(const runtime::RunLimits& limits, const Session& session, const Look& look,
                  Answer& answer, runtime::FunctionRef<void()> work) {
  try {
    runtime::Budget budget(limits);
    work();
    return true;
  } catch (const StoppedAfterPass&) {
    return false;
  } catch (const runtime::BudgetSpent& spent) {
    bool isTime = spent.fault.kind == runtime::FaultKind::Time;
    answer.code = isTime ? ExitCode::Program : ExitCode::World;
    answer.errors += faultText({spent.fault, {}}, session.sources(), look);
    return false;
  }
}

} // namespace driver
