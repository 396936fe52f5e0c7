// The scalar functions as formulas over values of programs: what mathProgram() makes programs of.
// Each takes and gives float32 or float64.
#pragma once

#include "codegen/math/builder.h"

namespace codegen::functions {

// rounding.cpp
MathValue truncated(MathValue x);
MathValue roundedAway(MathValue x);
MathValue sign(MathValue x);
MathValue maximum(MathValue a, MathValue b);
MathValue minimum(MathValue a, MathValue b);

// exponential.cpp
MathValue exponential(MathValue x);
MathValue sigmoid(MathValue x);
MathValue hyperbolicSine(MathValue x);
MathValue hyperbolicCosine(MathValue x);
MathValue hyperbolicTangent(MathValue x);

// error_function.cpp
MathValue errorFunction(MathValue x);

// logarithm.cpp
MathValue logarithm(MathValue x);
MathValue logarithm2(MathValue x);
MathValue logarithm10(MathValue x);

// trigonometric.cpp
MathValue sine(MathValue x);
MathValue cosine(MathValue x);
MathValue tangent(MathValue x);

// inverse_trigonometric.cpp
MathValue arcsine(MathValue x);
MathValue arccosine(MathValue x);
MathValue arctangent(MathValue x);

// inverse_hyperbolic.cpp
MathValue inverseHyperbolicSine(MathValue x);
MathValue inverseHyperbolicCosine(MathValue x);
MathValue inverseHyperbolicTangent(MathValue x);

// power.cpp
MathValue power(MathValue a, MathValue b);

// remainder.cpp
MathValue truncatedRemainder(MathValue a, MathValue b);
MathValue floorRemainder(MathValue a, MathValue b);

} // namespace codegen::functions
