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

runtime::Result<tensor::TensorEngine> engineOf(const RunOptions& options) {
  const std::string& name = options.engine;
  if (!options.processor.empty() && name != "native")
    return runtime::Error{"`--cpu` is for native code; say `--engine native` too"};
  if (name == "interp" || (name.empty() && options.precision != 0))
    return interp::referenceEngine(options.precision);
  if (!name.empty() && name != "loops" && !isMachine(name))
    return runtime::Error{noEngine(name)};
  if (options.precision != 0)
    return runtime::Error{fmt::format("`--engine {}` computes in the types of the program; "
                                      "`--precision` is for `--engine interp`",
                                      name)};
  return name == "native" ? codegen::nativeEngine(options.processor) : strips::stripsEngine();
}

} // namespace driver
