// A runner whose outputs lie in its inputs.
#include "tests/harness/in_place.h"

#include "codegen/strips/compile/sized.h"

#include <algorithm>
#include <cstring>

namespace harness {

using runtime::Tensor;
using runtime::Value;

namespace {

Tensor copyOf(const Tensor& tensor) {
  Tensor copy = Tensor::unwritten(tensor.dtype(), tensor.sharedShape());
  std::memcpy(copy.bytes(), tensor.bytes(), tensor.byteSize());
  return copy;
}

bool hasSameBytes(const Tensor& a, const Tensor& b) {
  return a.byteSize() == b.byteSize() &&
         (a.byteSize() == 0 || std::memcmp(a.bytes(), b.bytes(), a.byteSize()) == 0);
}

/// Runs with results in the memory of inputs, of each result the one with that number among those
/// that it may take, or none.
std::optional<runtime::Fault> run(runtime::KernelCode& code, std::span<const Value> inputs,
                                  size_t choice, std::vector<Value>& outputs, size_t& replaced) {
  std::vector<Tensor> given, results;
  for (const Value& input : inputs)
    given.push_back(copyOf(input.tensor()));
  std::vector<bool> isTaken(given.size());
  std::vector<std::byte*> to;
  std::vector<const std::byte*> from;
  for (const runtime::CodeResult& result : code.results()) {
    const auto [isInput, index] = result.source;
    if (!result.isWritten(results.size())) {
      const Tensor& same = isInput ? given[index] : results[index];
      results.push_back(same.reshaped(result.shape));
    } else {
      results.push_back(Tensor::unwritten(result.type, result.shape));
      const auto& choices = result.replaceable;
      if (choice < choices.size() && !isTaken[choices[choice]]) {
        results.back() = given[choices[choice]];
        isTaken[choices[choice]] = true;
        ++replaced;
      }
    }
    to.push_back(results.back().bytes());
  }
  for (const Tensor& input : given)
    from.push_back(input.bytes());
  if (auto fault = code.run(from, to))
    return fault;
  outputs.clear();
  for (const Tensor& result : results)
    outputs.push_back(runtime::tensorValue(result));
  return std::nullopt;
}

/// Once for each choice; what differs is a fault.
std::optional<runtime::Fault> runEach(runtime::KernelCode& code, std::span<const Value> inputs,
                                      std::vector<Value>& outputs, size_t& replaced) {
  if (code.problem())
    return *code.problem();
  size_t choices = 1;
  for (const runtime::CodeResult& result : code.results())
    choices = std::max(choices, result.replaceable.size());
  auto first = run(code, inputs, 0, outputs, replaced);
  for (size_t choice = 1; choice < choices; ++choice) {
    std::vector<Value> others;
    auto fault = run(code, inputs, choice, others, replaced);
    bool isSame =
        fault.has_value() == first.has_value() && (!fault || fault->problem == first->problem);
    for (size_t i = 0; isSame && !fault && i < outputs.size(); ++i)
      isSame = hasSameBytes(outputs[i].tensor(), others[i].tensor());
    if (!isSame)
      return runtime::Fault{runtime::FaultKind::Internal,
                            "a result differs with the input that it is computed in"};
  }
  return first;
}

} // namespace

tensor::TensorEngine inPlaceLoops(size_t& replaced) {
  return {[&replaced](const tensor::TensorFunction& function) -> tensor::TensorCode {
    auto owned = std::make_shared<tensor::OwnedKernel>(function, strips::makeKernel);
    return {[owned, &replaced](std::span<const Value> inputs, std::vector<Value>& outputs) {
      return runEach(owned->code, inputs, outputs, replaced);
    }};
  }};
}

} // namespace harness
