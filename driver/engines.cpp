// The engines by name.
#include "driver/engines.h"

#include "codegen/native/kernel.h"
#include "codegen/strips/compile/sized.h"
#include "driver/debug/interrupt.h"
#include "interp/reference.h"
#include "lower/loops/names.h"
#include "runtime/formats/quote.h"
#include "vm/native/runner.h"
#include "vm/native/stack.h"

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

namespace {

/// Whether native code is taken where it pays.
bool isPatient(const RunOptions& options) {
  return options.engine == "auto" || (options.engine.empty() && isOnMachine(options));
}

} // namespace

runtime::Result<tensor::TensorEngine> engineOf(const RunOptions& options, std::string& notes) {
  const std::string& name = options.engine;
  const loops::Numbers numbers = *loops::numbersOf(options.numbers);
  if (!options.processor.empty() && name != "native" && !isPatient(options))
    return runtime::Error{
        "`--cpu` is for native code, which only `--engine native` and `auto` have"};
  bool isNative = name == "native" || isPatient(options);
  if (options.tuneSeconds > 0 && (!isNative || !options.processor.empty()))
    return runtime::Error{"`--tune` measures native code on the processor at hand, which only "
                          "`--engine native` and `auto` run, and without `--cpu`"};
  if (name == "interp" || (name.empty() && options.precision != 0))
    return interp::referenceEngine(options.precision);
  if (!name.empty() && name != "loops" && !isMachine(name))
    return runtime::Error{noEngine(name)};
  if (options.precision != 0)
    return runtime::Error{fmt::format("`--engine {}` computes in the types of the program; "
                                      "`--precision` is for `--engine interp`",
                                      name)};
  // A timed run is about calls behind those for which code is made.
  const bool isAll = name == "native" || options.isTimed;
  if (isNative)
    return codegen::nativeEngine(
        {.processor = options.processor,
         .when = isAll ? codegen::When::Always : codegen::When::ItPays,
         .numbers = numbers,
         .tuneSeconds = options.tuneSeconds,
         .isEnough =
             [watch = runtime::Stopwatch(options.limits)] {
               return watch.isOver() || InterruptWatch::isInterrupted();
             },
         .tuned =
             [&notes](const codegen::Tuned& tuned) {
               notes += fmt::format("tuned: {}, of {}\n", tuned.summary(), tuned.nest);
             }});
  return strips::stripsEngine(numbers);
}

std::function<vm::Runner(const vm::Program&)> runnersOf(const RunOptions& options) {
  const bool isNative = options.engine == "native";
  // Code takes memory otherwise than the loop, and when it takes over hangs on the clock: which
  // runs end at a limit must not.
  const bool isLate = isPatient(options) && options.limits.memory == runtime::RunLimits().memory;
  if (!(isNative || isLate) || !vm::native::Stack::isSupported())
    return {};
  std::optional<codegen::Processor> target;
  if (!options.processor.empty()) {
    auto named = codegen::processorNamed(options.processor);
    if (!named)
      return {};
    target = *std::move(named);
  }
  auto compiler = std::make_shared<const vm::native::ControlCompiler>(std::move(target));
  return [=](const vm::Program& program) {
    return isNative ? vm::native::runnerOf(*compiler, program)
                    : vm::native::lateRunnerOf(compiler, program);
  };
}

} // namespace driver
