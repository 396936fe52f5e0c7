// A runner behind the contract of engines.
#include "lower/strips/engine.h"

#include "lower/strips/kernel.h"

#include <mutex>

namespace lower {

namespace {

using runtime::Fault;
using runtime::Value;

/// A runner for whoever comes first; others that come at the same time make their own.
struct SharedRunner {
  explicit SharedRunner(const tensor::TensorFunction& of)
      : function(of), runner(makeProgram(function)) {}

  const tensor::TensorFunction function;
  std::mutex mutex;
  Runner runner;
};

std::optional<Fault> run(SharedRunner& shared, std::span<const Value> inputs,
                         std::vector<Value>& outputs) {
  if (std::unique_lock lock(shared.mutex, std::try_to_lock); lock)
    return tensor::runOn(shared.runner, inputs, outputs);
  Runner own(makeProgram(shared.function));
  return tensor::runOn(own, inputs, outputs);
}

} // namespace

tensor::TensorEngine loopsEngine() {
  return {.compile = [](const tensor::TensorFunction& function) -> tensor::TensorCode {
            auto runner = std::make_shared<SharedRunner>(function);
            return {[runner, expected = tensor::inputTypes(function)](std::span<const Value> inputs,
                                                                      std::vector<Value>& outputs) {
                      auto fault = tensor::inputFault(expected, inputs);
                      return fault ? fault : run(*runner, inputs, outputs);
                    },
                    runner->runner.bytes()};
          },
          .makeKernel = makeKernel};
}

} // namespace lower
