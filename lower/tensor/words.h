// The words of scalar functions and of what joins values, in the texts of tensor functions and of
// loop nests, for who writes them and who reads them.
#pragma once

#include "lower/tensor/expression.h"

#include <optional>
#include <string>
#include <string_view>

namespace tensor {

/// In front of `=`: `+`, `max`, `argmin`.
std::string_view combinerWord(Combiner combiner);
std::optional<Combiner> combinerOf(std::string_view word);
/// What joining many gives: `sum`, `maximum`, `argmin`.
std::string_view combinerNoun(Combiner combiner);
std::optional<Combiner> combinerOfNoun(std::string_view noun);
/// Whether the combiner looks for a place.
bool findsPlace(Combiner combiner);

/// As an operator between its operands, if it is written so.
std::string_view signOf(ScalarFunction function);
/// As a function: `exp`, `floor_divide`.
std::string wordOf(ScalarFunction function);
/// By either.
std::optional<ScalarFunction> functionOf(std::string_view word);

/// How strongly a sign binds: comparisons least, then sums, then products; 0 for what is none.
int strengthOf(std::string_view sign);

/// The element type that a function gives for operands of these types.
runtime::DType resultTypeOf(ScalarFunction function, runtime::DType operand);

/// A number as the text says it, or nothing where its type has no such.
struct NumberText {
  double real = 0;
  int64_t integer = 0;
};
std::optional<NumberText> numberOf(std::string_view text, runtime::DType dtype);
std::string textOfNumber(double real, int64_t integer, runtime::DType dtype);

} // namespace tensor
