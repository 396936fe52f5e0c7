// Derivatives before a run: those that the program asks for, and those of its entry.
#pragma once

#include "driver/commands.h"

namespace driver {

/// The parameters of the entry that get a gradient when the options ask for gradients.
std::vector<std::string> namesWithGradient(const lang::Global& entry, const Program& program,
                                           const RunOptions& options);

/// Writes out all derivatives of a good program, so that it can run. If the options ask for
/// gradients, the last global of the module then gives the value of the entry and its gradients.
/// False when the answer says what stands in the way.
bool writeOutDerivatives(Session& session, Program& program, const RunOptions& options,
                         const Look& look, Answer& answer);

} // namespace driver
