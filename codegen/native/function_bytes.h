// A tensor function as bytes that tell it from all others: what compiled code is known by.
#pragma once

#include "lower/tensor/expression.h"

#include <string>

namespace codegen {

/// Equal bytes mean equal functions; functions that differ in the numbers of their loops alone have
/// the same ones.
std::string bytesOf(const tensor::TensorFunction& function);

} // namespace codegen
