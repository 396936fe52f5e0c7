// The meanings of the scalar functions as text of LLVM, compiled from their characters in C.
//
// A column of its own would have to be held to the others; compiled, a function that gets a meaning
// has its spelling too. The text is not made small: LLVM folds constants and joins blocks.
#pragma once

#include "lower/tensor/expression.h"

#include <set>
#include <string>

namespace harness {

/// A `define`, and a `declare` for each function of the C library that it calls, which the module
/// around it has once. Both are empty where there is no such function.
struct LlvmFunction {
  std::string definition;
  std::set<std::string> declarations;
};

/// A function on elements of a type, such as `float @Add_float32(float %a, float %b)`; those of
/// bool are `i1`, as are the results of tests. The caller extends no operand. There is none on
/// floats of 16 bits, which are widened to float32 and rounded after every function.
LlvmFunction scalarFunctionInLlvm(tensor::ScalarFunction function, runtime::DType dtype);

} // namespace harness
