// A runner behind the contract of engines.
#include "lower/strips/engine.h"

#include "lower/strips/runner.h"

#include <mutex>

namespace lower {

namespace {

using runtime::Fault;
using runtime::Tensor;
using runtime::Value;

std::optional<Fault> run(Runner& runner, std::span<const Value> inputs,
                         std::vector<Value>& outputs) {
  std::vector<const std::byte*> from;
  for (const Value& input : inputs)
    from.push_back(input.tensor().bytes());
  std::vector<Tensor> results;
  std::vector<std::byte*> to;
  for (size_t i = 0; i < runner.sources().size(); ++i) {
    ResultSource source = runner.sources()[i];
    const runtime::SharedShape& shape = runner.resultShape(i);
    try {
      if (source.isInput)
        results.push_back(inputs[source.index].tensor().reshaped(shape));
      else if (source.index != i)
        results.push_back(results[source.index].reshaped(shape));
      else
        results.push_back(Tensor::unwritten(runner.resultType(i), shape));
    } catch (const std::bad_alloc&) {
      return runtime::memoryFault(runner.resultType(i), *shape);
    }
    to.push_back(results.back().bytes());
  }
  if (auto fault = runner.run(from, to))
    return fault;
  outputs.clear();
  for (Tensor& result : results)
    outputs.push_back(runtime::tensorValue(std::move(result)));
  return std::nullopt;
}

/// A runner for whoever comes first; others that come at the same time make their own.
struct SharedRunner {
  std::mutex mutex = {};
  Runner runner;

  explicit SharedRunner(Program program) : runner(std::move(program)) {}
};

std::optional<Fault> run(SharedRunner& shared, std::span<const Value> inputs,
                         std::vector<Value>& outputs) {
  if (std::unique_lock lock(shared.mutex, std::try_to_lock); lock)
    return run(shared.runner, inputs, outputs);
  Runner own(shared.runner.program());
  return run(own, inputs, outputs);
}

} // namespace

tensor::TensorEngine loopsEngine() {
  return {[](const tensor::TensorFunction& function) -> tensor::TensorCode {
    auto runner = std::make_shared<SharedRunner>(makeProgram(function));
    return {[runner, expected = tensor::inputTypes(function)](std::span<const Value> inputs,
                                                              std::vector<Value>& outputs) {
              auto fault = tensor::inputFault(expected, inputs);
              return fault ? fault : run(*runner, inputs, outputs);
            },
            runner->runner.bytes()};
  }};
}

} // namespace lower
