// Operator calls as kernels and native functions of the machine. A kernel is the row's tensor
// expression over the sizes that the checker left open, where its tensors are, and the shapes of
// its results.
#pragma once

#include "lang/ir/typing.h"
#include "vm/bytecode/layouts.h"

namespace bytecode {

/// The kernel of a call with operands and a result of these types. Nothing where it hangs on
/// values, or on what the types leave open besides sizes; then the host applies the operator.
std::optional<vm::KernelSite> kernelSite(Layouts& layouts, const lang::OperatorRow& row,
                                         lang::Types operands, const lang::Type* result,
                                         const lang::Attributes& attributes);

/// The kernel of a group, for calls with what its parameters declare. Nothing where its operators
/// make no one tensor function (lang/calls/group.h).
std::optional<vm::KernelSite> groupSite(Layouts& layouts, const lang::Function& group,
                                        const lang::Typing& typing);

/// The native function of such a call, if it has one.
std::optional<vm::NativeSite> nativeSite(Layouts& layouts, const lang::OperatorRow& row,
                                         lang::Types operands, const lang::Type* result,
                                         const lang::Attributes& attributes);

/// Whether the relation of an operator may refuse sizes or values of a call in a run.
bool needsWords(const lang::OperatorRow& row, lang::Types operands, const lang::Type* result);

} // namespace bytecode
