// Constructors as functions, for a pass that looks into functions.
#pragma once

#include "lang/builder.h"

#include <memory>

namespace transform {

/// A copy of the module in which constructors with fields are only called: elsewhere a function
/// literal stands for each.
std::unique_ptr<lang::Module> withConstructorFunctions(const lang::Module& module,
                                                       const lang::OperatorTable& operators);

} // namespace transform
