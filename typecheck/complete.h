// Completion: what an open module leaves to types, written out.
#pragma once

#include "lang/source/diagnostic.h"
#include "typecheck/checking.h"

namespace typecheck {

/// A copy of a module that was inferred without an error, in which numbers have types, fields of
/// records are taken by matches, and open definitions are their instances. Numbers that their types
/// cannot hold are reported.
std::unique_ptr<lang::Module> complete(lang::Module& module, Checking& checking,
                                       lang::Diagnostics& diagnostics);

} // namespace typecheck
