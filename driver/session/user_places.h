// Findings inside of the prelude, told where the program calls it.
#pragma once

#include "lang/ir/module.h"
#include "lang/source/diagnostic.h"

namespace driver {

/// Moves findings in functions outside of `source` to the uses there that lead to them. The place
/// where it was found, and further uses, become labels.
void placeInProgram(lang::Diagnostics& findings, const lang::Module& module,
                    const lang::SourceFile& source);

} // namespace driver
