// Operator calls as kernels of the machine: the row's tensor expression over the sizes that the
// checker left open, where its tensors are, and the shapes of its results.
#pragma once

#include "bytecode/layouts.h"

namespace bytecode {

/// The kernel of a call with operands and a result of these types. Nothing where it hangs on
/// values, or on what the types leave open besides sizes; then the host applies the operator.
std::optional<vm::KernelSite> kernelSite(Layouts& layouts, const lang::OperatorRow& row,
                                         lang::Types operands, const lang::Type* result,
                                         const lang::Attributes& attributes);

} // namespace bytecode
