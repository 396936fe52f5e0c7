// How often generated programs have each form of the language.
#pragma once

#include "tests/harness/program.h"

#include <map>
#include <string_view>

namespace harness {

/// Times by the name of a form: of expressions, of lines, and of patterns.
using FormCounts = std::map<std::string_view, size_t>;

/// All forms, none of them seen.
FormCounts noForms();

/// Adds the forms of a program.
void countForms(const Program& program, FormCounts& counts);

} // namespace harness
