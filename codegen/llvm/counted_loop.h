// A loop as blocks: its head, its body and the way back.
#pragma once

#include "codegen/llvm/positions.h"

#include <functional>

namespace codegen {

/// The numbers of a variable from `begin` on to before `end`, as int64, so many at once; the last
/// ones may be fewer. `body` is called once, while the variable has its first number.
void writeCountedLoop(FunctionText& text, Positions& positions, Name variable, const IrValue& begin,
                      const IrValue& end, uint32_t step, const std::function<void()>& body);

} // namespace codegen
