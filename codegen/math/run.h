// Runs a program on numbers: what back ends are held against, and what measures its errors.
#pragma once

#include "codegen/math/program.h"

#include <span>

namespace codegen {

/// What a back end makes of MultiplyAdd.
enum class Rounding : uint8_t { Fused, Unfused };

/// The values of a program for arguments in a row, as bits: `parameters` has a list for each
/// parameter, `results` is as long as they are. Bool is 0 or 1.
void runMathProgram(const MathProgram& program, Rounding rounding,
                    std::span<const std::span<const uint64_t>> parameters,
                    std::span<uint64_t> results);

} // namespace codegen
