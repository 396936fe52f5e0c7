// Scalar functions as instructions, on as many lanes as their operands have.
//
// Values are computed as computedAs() says; those of floats of 16 bits are rounded to them behind
// every function. What has no instructions here is called lane by lane (codegen/image/helpers.h).
#pragma once

#include "codegen/llvm/text.h"
#include "runtime/scalar_function.h"

#include <set>
#include <span>
#include <string>

namespace codegen {

using runtime::ScalarFunction;

/// Thrown where a nest has something that is not compiled; caught where modules are made.
struct Unsupported {
  std::string what;
};

/// A function of operands of one type, but for a Select's condition, whose type is `first`; not
/// Reinterpret. A divisor of zero gives anything.
IrValue writeFunction(FunctionText& text, ScalarFunction function, DType first, DType result,
                      std::span<const IrValue> operands);

/// Floats in lanes by one float for all: a multiplication by its reciprocal and a correction. It
/// rounds as division does, but for one of some millions and where dividends or quotients are so
/// small that digits are lost below them. Only where the target has AVX-512.
IrValue writeQuotient(FunctionText& text, const IrValue& dividends, const IrValue& divisor);

/// A conversion, as tensor::ScalarCast has it.
IrValue writeCast(FunctionText& text, const IrValue& value, DType from, DType to);
/// The same bits as another type of the same width.
IrValue writeReinterpret(FunctionText& text, const IrValue& value, DType from, DType to);

/// Whether a value of a type is not 0.
IrValue writeTruth(FunctionText& text, const IrValue& value, DType dtype);
/// What lies in memory as a value, and the other way round.
IrValue writeLoaded(FunctionText& text, const IrValue& stored, DType dtype);
IrValue writeStored(FunctionText& text, const IrValue& value, DType dtype);

/// A value of a number of a type.
IrValue numberOf(DType dtype, double real, int64_t whole);

} // namespace codegen
