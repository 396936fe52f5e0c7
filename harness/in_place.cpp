// A runner whose outputs lie in its inputs.
#include "harness/in_place.h"

#include "lower/runner.h"

namespace harness {

using runtime::Tensor;
using runtime::Value;

namespace {

Tensor copyOf(const Tensor& tensor) {
  Tensor copy = Tensor::unwritten(tensor.dtype(), tensor.sharedShape());
  std::memcpy(copy.bytes(), tensor.bytes(), tensor.byteSize());
  return copy;
}

std::optional<runtime::Fault> run(lower::Runner& runner, std::span<const Value> inputs,
                                  std::vector<Value>& outputs, size_t& replaced) {
  if (!runner.program().problem.empty())
    return runtime::Fault{runner.program().problemKind, runner.program().problem};
  std::vector<Tensor> given, results;
  for (const Value& input : inputs)
    given.push_back(copyOf(input.tensor()));
  std::vector<bool> isTaken(given.size());
  std::vector<std::byte*> to;
  std::vector<const std::byte*> from;
  for (size_t i = 0; i < runner.sources().size(); ++i) {
    lower::ResultSource source = runner.sources()[i];
    if (source.isInput || source.index != i) {
      const Tensor& same = source.isInput ? given[source.index] : results[source.index];
      results.push_back(same.reshaped(runner.resultShape(i)));
    } else {
      results.push_back(Tensor::unwritten(runner.resultType(i), runner.resultShape(i)));
      for (uint32_t input : runner.replaceable(i))
        if (!isTaken[input]) {
          results.back() = given[input];
          isTaken[input] = true;
          ++replaced;
          break;
        }
    }
    to.push_back(results.back().bytes());
  }
  for (const Tensor& input : given)
    from.push_back(input.bytes());
  if (auto fault = runner.run(from, to))
    return fault;
  outputs.clear();
  for (const Tensor& result : results)
    outputs.push_back(runtime::tensorValue(result));
  return std::nullopt;
}

} // namespace

tensor::TensorEngine inPlaceLoops(size_t& replaced) {
  return {[&replaced](const tensor::TensorFunction& function) -> tensor::TensorCode {
    auto runner = std::make_shared<lower::Runner>(lower::makeProgram(function));
    return {[runner, &replaced](std::span<const Value> inputs, std::vector<Value>& outputs) {
      return run(*runner, inputs, outputs, replaced);
    }};
  }};
}

} // namespace harness
