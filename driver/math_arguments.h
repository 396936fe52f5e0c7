// Arguments at which programs of scalar functions are measured: special values, neighbours of the
// numbers that the program compares with, what is hard for functions of the kind, and many others.
#pragma once

#include "codegen/math/program.h"

#include <array>
#include <concepts>

namespace driver {

/// About `points` arguments as bits, by parameter; the same at each call.
template <std::floating_point T>
std::array<std::vector<uint64_t>, 2> mathArguments(const codegen::MathProgram& program,
                                                   size_t points);

extern template std::array<std::vector<uint64_t>, 2>
mathArguments<float>(const codegen::MathProgram& program, size_t points);
extern template std::array<std::vector<uint64_t>, 2>
mathArguments<double>(const codegen::MathProgram& program, size_t points);

} // namespace driver
