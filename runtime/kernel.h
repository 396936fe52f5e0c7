// Kernels: what computes an operator that no tensor expression states, such as sorting.
//
// A kernel sees tensors and a block of plain parameters, which was decoded from the attributes and
// operand types of a call site once; it knows neither. Operands are such as the operator's relation
// accepted, so only data can be at fault: that is a code with numbers, and kernelFaultText() is the
// one place that has words for it.
#pragma once

#include "runtime/tensor.h"

#include <array>
#include <string>

namespace runtime {

enum class KernelFaultCode : uint8_t {
  None,
#define KERNEL_FAULT(name, text) name,
#include "runtime/kernel_faults.def"
#undef KERNEL_FAULT
};

/// What is wrong, or nothing.
struct KernelFault {
  KernelFaultCode code = KernelFaultCode::None;
  std::array<int64_t, 3> numbers = {};

  explicit operator bool() const { return code != KernelFaultCode::None; }
};

/// The fault in words.
std::string kernelFaultText(const KernelFault& fault);

/// One run: the tensors of the operands in order, and those of the result, which the kernel
/// appends. The kernel may take an operand, and write where nobody else refers to its elements.
struct KernelCall {
  std::span<Tensor> inputs;
  std::vector<Tensor>& outputs;
};

/// The bytes of a plain struct that the kernel knows.
using KernelParameters = std::vector<std::byte>;

using KernelFunction = KernelFault (*)(const KernelCall& call,
                                       std::span<const std::byte> parameters);

} // namespace runtime
