// What is said of a token that does not fit: what somebody is used to from other languages, or the
// marks that are easily forgotten. Changes are guesses, which are tried before they are shown.
#pragma once

#include "parser/baton/mistake_text.h"

namespace parser::baton {

/// Reports the habit that explains a mistake, if there is one.
bool reportHabit(lang::Diagnostics& diagnostics, const MistakeText& text);

/// Suggests changes near to any other mistake.
void suggestRepairs(lang::Diagnostic& report, const MistakeText& text);

} // namespace parser::baton
