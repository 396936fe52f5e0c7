// Straight-line programs of scalar functions (codegen/math) as instructions, for any lanes.
#pragma once

#include "codegen/llvm/text.h"
#include "codegen/math/program.h"

#include <span>

namespace codegen {

/// The result of a program of operands that have as many lanes each.
IrValue writeMath(FunctionText& text, const MathProgram& program,
                  std::span<const IrValue> operands);

} // namespace codegen
