// The gradient rules of the operators on sparse matrices.
//
// The cotangents of a product go through dense matrices: where each stored element stands follows
// from the row bounds, so a rule reads the cotangents of a dense matrix there, and writes the
// elements there to multiply with them.
#pragma once

#include "stdlib/ops/gradient.h"

namespace stdlib {

void sparseDenseGradient(GradientCall& d);
void sparseConvGradient(GradientCall& d);
void sparseAddGradient(GradientCall& d);
void sparseTransposeGradient(GradientCall& d);

} // namespace stdlib
