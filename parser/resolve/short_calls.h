// Calls of operators in Baton's notation that give fewer arguments than the operator takes.
#pragma once

#include "parser/resolve/resolve_context.h"

namespace parser {

/// The call that one of an operator stands for: itself, or one with the arguments that go without
/// saying, as `arange(n)` begins at 0.
const surface::Call& wholeCall(ResolveContext& context, const lang::OperatorRow& row,
                               const surface::Call& call);

} // namespace parser
