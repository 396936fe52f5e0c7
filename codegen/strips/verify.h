// Whether a strip program is one, for who did not make it.
//
// What is looked at here, once, is what hangs on no numbers: places in tables, how loops lie in each
// other, that all loops end. Where memory is touched is looked at while such a program runs
// (check_run.cpp).
#pragma once

#include "codegen/strips/sized_program.h"
#include "lower/tensor/expression.h"

namespace strips {

/// What is wrong with a program that is to compute a function, or null.
const char* problemOf(const SizedProgram& sized, const tensor::TensorFunction& function);

} // namespace strips
