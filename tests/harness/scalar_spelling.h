// The meanings of the scalar functions as text in C: the very characters that C++ computes with.
#pragma once

#include "lower/tensor/expression.h"

namespace harness {

/// What stands before functions whose bodies are those below.
inline constexpr std::string_view scalarPreludeInC = "#include <stdbool.h>\n"
                                                     "#include <stdint.h>\n"
                                                     "#include <tgmath.h>\n";

/// A function in C of operands a, b and c: the type of its result, `T` or `bool`, and its body. T
/// is the type of the operands, W the unsigned type in which whole numbers of that type wrap, with
/// 32 bits or more, and IS_SIGNED is 1 or 0. Both are empty where the function has no meaning on T.
struct ScalarSpelling {
  std::string_view result, body;
};
ScalarSpelling scalarFunctionInC(tensor::ScalarFunction function, bool ofFloats);

} // namespace harness
