// A definition that the command line names.
#pragma once

#include "driver/session/answer.h"
#include "driver/session/session.h"

#include <string_view>

namespace driver {

/// The function of that name in a resolved program, with or without its `@`; or null, with an error
/// in the answer that says which functions `option` may name instead, and the answer's code is the
/// reason.
const lang::Global* findGlobal(const Program& program, std::string_view name,
                               std::string_view option, Answer& answer,
                               ExitCode reason = ExitCode::World);

} // namespace driver
