// The words for what is wrong with the data of a kernel.
#include "runtime/kernel.h"

#include <fmt/format.h>

namespace runtime {

std::string kernelFaultText(const KernelFault& fault) {
  auto [first, second, third] = fault.numbers;
  switch (fault.code) {
  case KernelFaultCode::None:
    return "";
#define KERNEL_FAULT(name, text)                                                                   \
  case KernelFaultCode::name:                                                                      \
    return fmt::format(text, first, second, third);
#include "runtime/kernel_faults.def"
#undef KERNEL_FAULT
  }
  return "";
}

} // namespace runtime
