// Inputs whose values become a part of the program before passes go over it: what follows from them
// is computed once.
#pragma once

#include "driver/arguments.h"
#include "driver/session/session.h"

#include <optional>
#include <string_view>

namespace driver {

/// What is wrong where a command that runs nothing is given inputs: `made` tells what it makes of
/// them, as in "an executable is compiled". Empty when nothing is.
std::string fixingProblem(const RunOptions& options, std::string_view made);

/// Puts the inputs that `options.fixed` names in the places of the entry's parameters, and what
/// follows from them. The entry takes the others alone, over the sizes that these leave open.
/// Nothing when the answer says what stands in the way: a pattern that names no parameter, a value
/// that is not given or too large, or an entry that the program calls.
std::optional<FixedInputs> fixInputs(Session& session, Program& program, const std::string& entry,
                                     const RunOptions& options, Answer& answer);

} // namespace driver
