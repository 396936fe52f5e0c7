// Whether parameters of data types are types or sizes, which the notation tells by their use alone.
#pragma once

#include "parser/resolve/resolve_context.h"

namespace parser {

/// Decides the parameters of a definition by its text, and those of the types in it that it needs
/// for that. What no use tells stays open.
void decideParameterKinds(ResolveContext& context, const lang::TypeDefinition& definition);

} // namespace parser
