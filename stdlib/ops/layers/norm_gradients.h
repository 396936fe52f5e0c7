// The gradients of the normalisations. They need ranks but no extents, so that they serve dynamic
// shapes; vectors along the axis are made to broadcast.
#pragma once

#include "lang/rules/gradient.h"

namespace stdlib {

void batchNormGradient(lang::GradientCall& d);
void layerNormGradient(lang::GradientCall& d);
void instanceNormGradient(lang::GradientCall& d);
void groupNormGradient(lang::GradientCall& d);
void l2NormalizeGradient(lang::GradientCall& d);
void lrnGradient(lang::GradientCall& d);

} // namespace stdlib
