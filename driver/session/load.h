// A program for a command that can do nothing with a wrong one.
#pragma once

#include "driver/session/answer.h"
#include "driver/session/options.h"
#include "driver/session/session.h"

#include <optional>

namespace driver {

/// The findings of a file as text, as it is called in their places.
std::string findingsText(const Session& session, const lang::Diagnostics& findings,
                         const std::string& file, const Look& look);

/// The program in a file. Its diagnostics go to the answer; nothing when it has errors or could not
/// be had, which the answer's code says.
std::optional<Program> loadGood(Session& session, Input input, const Look& look, Answer& answer,
                                Stage stage = Stage::Checked);

} // namespace driver
