// The engines by name.
#include "driver/engines.h"

#include "codegen/native/kernel.h"
#include "codegen/strips/compile/sized.h"
#include "interp/reference.h"
#include "lower/loops/names.h"
#include "runtime/formats/quote.h"
#include "vm/native/runner.h"

#include <fmt/format.h>

namespace driver {

std::string noEngine(const std::string& name) {
  return fmt::format("there is no engine {}; the engines are `auto`, `vm`, `native`, `loops` and "
                     "`interp`",
                     formats::backquoted(name));
}

bool isMachine(const std::string& name) {
  return name == "auto" || name == "vm" || name == "native";
}

bool isOnMachine(const RunOptions& options) {
  bool isFree =
      options.engine.empty() && options.precision == 0 && !options.trapsNonFinite && !options.trace;
  return isFree || isMachine(options.engine);
}

runtime::Result<tensor::TensorEngine> engineOf(const RunOptions& options) {
  const std::string& name = options.engine;
  const loops::Numbers numbers = *loops::numbersOf(options.numbers);
  const bool isPatient = name == "auto" || (name.empty() && isOnMachine(options));
  if (!options.processor.empty() && name != "native" && !isPatient)
    return runtime::Error{
        "`--cpu` is for native code, which only `--engine native` and `auto` have"};
  if (name == "interp" || (name.empty() && options.precision != 0))
    return interp::referenceEngine(options.precision);
  if (!name.empty() && name != "loops" && !isMachine(name))
    return runtime::Error{noEngine(name)};
  if (options.precision != 0)
    return runtime::Error{fmt::format("`--engine {}` computes in the types of the program; "
                                      "`--precision` is for `--engine interp`",
                                      name)};
  if (name == "native" || isPatient)
    return codegen::nativeEngine({.processor = options.processor,
                                  .when = isPatient ? codegen::When::ItPays : codegen::When::Always,
                                  .numbers = numbers});
  return strips::stripsEngine(numbers);
}

std::function<vm::Runner(const vm::Program&)> runnersOf(const RunOptions& options) {
  if (options.engine != "native")
    return {};
  std::optional<codegen::Processor> target;
  if (!options.processor.empty()) {
    auto named = codegen::processorNamed(options.processor);
    if (!named)
      return {};
    target = *std::move(named);
  }
  auto compiler = std::make_shared<vm::native::ControlCompiler>(std::move(target));
  return [compiler](const vm::Program& program) { return compiler->runnerOf(program); };
}

} // namespace driver
