// Numbers and strings as the text format writes them. A real gets six significant digits, as
// Relay's printer has it, and more only when six do not give the value back.
#pragma once

#include "lang/ir/expr.h"

#include <optional>

namespace lang::printing {

/// A real of 16, 32 or 64 bits with its suffix: `1f`, `0.5f16`, `1e+10f64`, `-inff`, `nanf`.
std::string floatLiteral(double value, int bits);

/// A floating attribute: digits that give the double back, a suffix of `width` bits. One that is
/// too large for float32 gets the suffix `f64`, without which it could not be read.
std::string floatAttributeText(double value, int width);

/// An integer with a suffix unless it has 32 bits: `3`, `3i64`, `3i16`.
std::string integerText(int64_t value, int width);

/// A string in quotes, with escapes.
std::string quotedText(std::string_view text);

/// A constant as a literal; nothing when none stands for its bits, or it is a tensor of a rank and
/// of no or more elements.
std::optional<std::string> constantLiteral(const Constant& constant, int64_t mostElements = 0);

} // namespace lang::printing
