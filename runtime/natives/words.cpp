// The words for what is wrong with the data of a native function.
#include "runtime/native.h"

#include <fmt/format.h>

namespace runtime {

std::string nativeFaultText(const NativeFault& fault) {
  auto [first, second, third, fourth] = fault.numbers;
  switch (fault.code) {
  case NativeFaultCode::None:
    return "";
#define NATIVE_FAULT(name, text)                                                                   \
  case NativeFaultCode::name:                                                                      \
    return fmt::format(text, first, second, third, fourth);
#include "runtime/native_faults.def"
#undef NATIVE_FAULT
  }
  return "";
}

} // namespace runtime
