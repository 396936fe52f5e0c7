// Operators under other names, for passes that look for calls of operators.
#pragma once

#include "transform/passes.h"

namespace transform {

/// A copy of the module in which a variable that stands for an operator is not called: the operator
/// is.
std::unique_ptr<lang::Module> withOperatorCalls(const lang::Module& module,
                                                const PassContext& context);

} // namespace transform
