// A runner whose outputs lie in its inputs.
#include "tests/harness/in_place.h"

#include "codegen/strips/compile/sized.h"
#include "lower/tensor/given.h"
#include "lower/tensor/wrapped_kernel.h"

#include <algorithm>
#include <cstring>

namespace harness {

using runtime::Tensor;

namespace {

Tensor tensorOf(runtime::DType dtype, const runtime::Shape& shape, const std::byte* elements) {
  Tensor tensor = Tensor::unwritten(dtype, shape);
  std::memcpy(tensor.bytes(), elements, tensor.byteSize());
  return tensor;
}

bool hasSameBytes(const Tensor& a, const Tensor& b) {
  return a.byteSize() == b.byteSize() &&
         (a.byteSize() == 0 || std::memcmp(a.bytes(), b.bytes(), a.byteSize()) == 0);
}

/// Runs with results in the memory of inputs, of each result the one with that number among those
/// that it may take, or none.
std::optional<runtime::Fault> run(runtime::KernelCode& code, std::span<const Tensor> inputs,
                                  size_t choice, std::vector<Tensor>& results, size_t& replaced) {
  std::vector<Tensor> given;
  for (const Tensor& input : inputs)
    given.push_back(tensorOf(input.dtype(), input.shape(), input.bytes()));
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
  return code.run(from, to);
}

/// Once for each choice; what differs is a fault.
std::optional<runtime::Fault> runEach(runtime::KernelCode& code, std::span<const Tensor> inputs,
                                      std::vector<Tensor>& results, size_t& replaced) {
  size_t choices = 1;
  for (const runtime::CodeResult& result : code.results())
    choices = std::max(choices, result.replaceable.size());
  auto first = run(code, inputs, 0, results, replaced);
  for (size_t choice = 1; choice < choices; ++choice) {
    std::vector<Tensor> others;
    auto fault = run(code, inputs, choice, others, replaced);
    bool isSame = fault.has_value() == first.has_value() &&
                  (!fault || fault->problem.plain() == first->problem.plain());
    for (size_t i = 0; isSame && !fault && i < results.size(); ++i)
      isSame = hasSameBytes(results[i], others[i]);
    if (!isSame)
      return runtime::Fault{runtime::FaultKind::Internal,
                            "a result differs with the input that it is computed in"};
  }
  return first;
}

tensor::AroundRun inPlace(const tensor::TensorFunction& function, std::span<const int64_t> extents,
                          size_t& replaced) {
  return [&function, shapes = tensor::givenShapes(function, extents),
          &replaced](runtime::KernelCode& code, std::span<const std::byte* const> inputs,
                     std::span<std::byte* const> outputs) {
    std::vector<Tensor> given, results;
    for (size_t i = 0; i < inputs.size(); ++i)
      given.push_back(tensorOf(function.tensors[i].dtype, shapes[i], inputs[i]));
    auto fault = runEach(code, given, results, replaced);
    for (size_t i = 0; i < outputs.size() && !fault; ++i)
      if (code.results()[i].isWritten(i))
        std::memcpy(outputs[i], results[i].bytes(), results[i].byteSize());
    return fault;
  };
}

} // namespace

tensor::TensorEngine inPlaceLoops(size_t& replaced) {
  auto around = [&replaced](const tensor::TensorFunction& function,
                            std::span<const int64_t> extents) {
    return inPlace(function, extents, replaced);
  };
  return {.makeKernel = tensor::wrapped(strips::makeKernel, around)};
}

} // namespace harness
