// Why a run failed, as it is shown.
#pragma once

#include "driver/session/answer.h"
#include "driver/session/options.h"
#include "driver/session/session.h"
#include "runtime/run_fault.h"

namespace driver {

/// The code of all messages about runs, which are no findings in a text.
inline constexpr std::string_view runTimeCode = "run-time";

/// The fault with its place in the text and the calls that led there.
std::string faultText(const runtime::RunFault& fault, const lang::SourceMap& sources,
                      const Look& look);

} // namespace driver
