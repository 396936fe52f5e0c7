// Inputs that do not fit, and kernels on values.
#include "lower/tensor/engine.h"

#include "lower/tensor/given.h"

#include <fmt/format.h>

namespace tensor {

namespace {

bool isOf(const InputType& expected, const runtime::Tensor& given) {
  bool fit = given.dtype() == expected.dtype && given.rank() == expected.shape.size();
  for (size_t i = 0; fit && i < given.rank(); ++i)
    fit = expected.shape[i] == -1 || expected.shape[i] == given.shape()[i];
  return fit;
}

/// Runs code on values.
std::optional<runtime::Fault> runOn(runtime::KernelCode& code,
                                    std::span<const runtime::Value> inputs,
                                    std::vector<runtime::Value>& outputs) {
  if (code.problem())
    return *code.problem();
  std::vector<const std::byte*> from;
  from.reserve(inputs.size());
  for (const runtime::Value& input : inputs)
    from.push_back(input.tensor().bytes());
  std::vector<runtime::Tensor> results;
  std::vector<std::byte*> to;
  results.reserve(code.results().size());
  to.reserve(code.results().size());
  for (const runtime::CodeResult& result : code.results()) {
    const auto [isInput, index] = result.source;
    try {
      if (isInput)
        results.push_back(inputs[index].tensor().reshaped(result.shape));
      else if (!result.isWritten(results.size()))
        results.push_back(results[index].reshaped(result.shape));
      else
        results.push_back(runtime::Tensor::unwritten(result.type, result.shape));
    } catch (const std::bad_alloc&) {
      return runtime::memoryFault(result.type, *result.shape);
    }
    to.push_back(results.back().bytes());
  }
  if (auto fault = code.run(from, to))
    return fault;
  outputs.clear();
  outputs.reserve(results.size());
  for (runtime::Tensor& result : results)
    outputs.push_back(runtime::tensorValue(std::move(result)));
  return std::nullopt;
}

} // namespace

std::vector<InputType> inputTypes(const TensorFunction& function) {
  std::vector<InputType> types;
  for (size_t i = 0; i < function.inputCount; ++i) {
    InputType& type = types.emplace_back(InputType{function.tensors[i].dtype, {}});
    for (const ScalarNode* extent : function.tensors[i].shape) {
      const auto* number = extent->as<ScalarNumber>();
      type.shape.push_back(number ? number->integer : -1);
    }
  }
  return types;
}

std::optional<runtime::Fault> inputFault(std::span<const InputType> expected,
                                         std::span<const runtime::Value> inputs) {
  if (inputs.size() != expected.size())
    return runtime::Fault{
        runtime::FaultKind::Internal,
        fmt::format("expected {} inputs, got {}", expected.size(), inputs.size())};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const runtime::Tensor& given = inputs[i].tensor();
    if (!isOf(expected[i], given))
      return runtime::Fault{runtime::FaultKind::Internal,
                            fmt::format("input {} is a tensor of {}, expected {}", i,
                                        runtime::shapeText(given.dtype(), given.shape()),
                                        runtime::shapeText(expected[i].dtype, expected[i].shape))};
  }
  return std::nullopt;
}

OwnedKernel::OwnedKernel(TensorFunction function, const MakeKernel& makeKernel)
    : function_(std::move(function)), inputs_(inputTypes(function_)),
      kernel_(makeKernel(function_, {})), extents_(extentsOf(function_)),
      bytes_(sizeof *this + function_.arena->reserved()) {
  for (runtime::Shape& shape : givenShapes(function_, extents_))
    results_.push_back(std::move(shape));
  results_.erase(results_.begin(), results_.begin() + ptrdiff_t(function_.inputCount));
  if (!function_.sizes.empty())
    return;
  code_ = &kernel_->codeFor(extents_);
  bytes_ += code_->bytes();
}

/// Whether types and sizes are those of the run before.
bool OwnedKernel::isAgain(std::span<const runtime::Value> inputs,
                          std::span<const runtime::Shape> results) const {
  auto next = extents_.begin();
  auto isSame = [&](const runtime::Shape& shape, size_t rank) {
    if (shape.size() != rank || !std::equal(shape.begin(), shape.end(), next))
      return false;
    next += ptrdiff_t(rank);
    return true;
  };
  if (!code_ || inputs.size() != inputs_.size() || results.size() != results_.size())
    return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const runtime::Tensor& input = inputs[i].tensor();
        input.dtype() != inputs_[i].dtype || !isSame(input.shape(), inputs_[i].shape.size()))
      return false;
  for (size_t i = 0; i < results.size(); ++i)
    if (!isSame(results[i], results_[i].size()))
      return false;
  return true;
}

void OwnedKernel::choose(std::span<const runtime::Value> inputs,
                         std::span<const runtime::Shape> results) {
  code_ = nullptr;
  extents_.clear();
  auto add = [&](const runtime::Shape& shape) {
    extents_.insert(extents_.end(), shape.begin(), shape.end());
  };
  for (const runtime::Value& input : inputs)
    add(input.tensor().shape());
  for (const runtime::Shape& shape : results)
    add(shape);
  code_ = &kernel_->codeFor(extents_);
}

std::optional<runtime::Fault> OwnedKernel::run(std::span<const runtime::Value> inputs,
                                               std::span<const runtime::Shape> results,
                                               std::vector<runtime::Value>& outputs) {
  std::lock_guard lock(turn_);
  if (!isAgain(inputs, results)) {
    if (auto fault = inputFault(inputs_, inputs))
      return fault;
    choose(inputs, results);
  }
  return runOn(*code_, inputs, outputs);
}

std::optional<runtime::Fault> OwnedKernel::run(std::span<const runtime::Value> inputs,
                                               std::vector<runtime::Value>& outputs) {
  return run(inputs, results_, outputs);
}

} // namespace tensor
