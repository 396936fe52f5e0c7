// What is said of words on the command line that mean nothing.
#pragma once

#include "driver/session/answer.h"

#include <CLI/CLI.hpp>
#include <optional>

namespace driver {

/// Refuses a word in the place of a command that is none, nor an option of Baton.
std::optional<Answer> refuseUnknownCommand(const CLI::App& app, std::string_view word);

/// What follows when the words could not be read: the help, if they ask for it, or an error.
Answer refuseWords(const CLI::App& app, const CLI::ParseError& problem);

} // namespace driver
