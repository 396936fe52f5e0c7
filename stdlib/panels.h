// Weights that stand in panels, as kernels read them (the pass `lay-out-weights`).
#pragma once

#include "lang/ir/builder.h"

namespace stdlib {

/// Weights of so many dimensions, read from panels of `dim`, each of `size` positions of it: of
/// [dim / size][all other dimensions][size].
const lang::Var* weightsFromPanels(lang::BlockBuilder& out, lang::Atom panels, size_t rank,
                                   size_t dim, int64_t size);

} // namespace stdlib
