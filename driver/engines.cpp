// The engines by name.
#include "driver/engines.h"

#include "codegen/native/kernel.h"
#include "codegen/strips/compile/sized.h"
#include "interp/reference.h"
#include "runtime/formats/quote.h"

#include <fmt/format.h>

namespace driver {

std::string noEngine(const std::string& name) {
  return fmt::format("there is no engine {}; the engines are `vm`, `native`, `loops` and `interp`",
                     formats::backquoted(name));
}

bool isMachine(const std::string& name) {
  return name == "vm" || name == "native";
}

runtime::Result<tensor::TensorEngine> engineOf(const std::string& name, unsigned digits) {
  if (name == "interp" || (name.empty() && digits != 0))
    return interp::referenceEngine(digits);
  if (!name.empty() && name != "loops" && !isMachine(name))
    return runtime::Error{noEngine(name)};
  if (digits != 0)
    return runtime::Error{fmt::format("`--engine {}` computes in the types of the program; "
                                      "`--precision` is for `--engine interp`",
                                      name)};
  return name == "native" ? codegen::nativeEngine() : strips::stripsEngine();
}

} // namespace driver
