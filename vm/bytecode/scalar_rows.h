// The instructions of scalar functions, by what they do: a table out of
// vm/machine/instructions.def.
#pragma once

#include "vm/machine/program.h"

#include <optional>

namespace bytecode {

/// The handlers of vm/machine/execute.h that rows are made of.
enum class RowForm : uint8_t {
  binary,
  immediate,
  masked,
  unary,
  returnBinary,
  returnImmediate,
  returnMasked,
  jumpUnlessHolds,
  jumpUnlessShort
};

struct ScalarRow {
  RowForm form;
  runtime::ScalarFunction function;
  runtime::DType dtype;
  vm::Op op;
};

/// The instruction of a function on a type, if it has one of that form.
std::optional<vm::Op> findScalar(RowForm form, runtime::ScalarFunction function,
                                 runtime::DType dtype);

/// The instruction that converts from one type to another, if there is one of its own.
std::optional<vm::Op> findConversion(runtime::DType from, runtime::DType to);

/// The row of an instruction; null when it is that of no scalar function.
const ScalarRow* scalarRowOf(vm::Op op);

} // namespace bytecode
