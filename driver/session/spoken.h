// What is said of a program, in the notation of its text.
#pragma once

#include "driver/session/session.h"

#include <string>

namespace driver {

/// Words in which code stands between backquotes in Relay's notation, with that code in Baton's:
/// names without sigils, short types.
std::string spokenBare(std::string_view words);

/// Code in Relay's notation in Baton's.
std::string codeBare(std::string_view code);

/// Code in Relay's notation in that of a program's text.
std::string inNotation(const Program& program, std::string code);

/// The same for words about inputs and results, where names of files and of what is in them stand
/// between backquotes too.
std::string inNotationOf(const Program& program, std::string words);

/// The same for all that findings say.
void speakBare(lang::Diagnostics& findings);

/// The same for the changes that they suggest, before these are tried.
void suggestBare(lang::Diagnostics& findings);

} // namespace driver
