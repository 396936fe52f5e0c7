// How values of a data type are made from a key of random numbers: `Net.init`.
#pragma once

#include "parser/resolve/resolve_context.h"

namespace parser {

/// The last word of what makes values of a type.
inline constexpr std::string_view initialiser = "init";

/// The function `net_init` of the unit of a type `Net`. Where there is none it is made, of a
/// record: each field is what the initialiser of its type gives for a key of its own. Null where
/// that cannot be, after a report at `range`.
const lang::Global* findInitialiser(ResolveContext& context, const Unit& unit,
                                    std::string_view type);

/// Says that nothing makes values of a type.
void reportNoInitialiser(ResolveContext& context, const Unit& unit, std::string_view type,
                         lang::SourceRange range);

} // namespace parser
