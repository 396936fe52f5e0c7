// Inputs that do not fit.
#include "lower/tensor/engine.h"

#include <fmt/format.h>

namespace tensor {

namespace {

bool fits(const InputType& expected, const runtime::Tensor& given) {
  bool fit = given.dtype() == expected.dtype && given.rank() == expected.shape.size();
  for (size_t i = 0; fit && i < given.rank(); ++i)
    fit = expected.shape[i] == -1 || expected.shape[i] == given.shape()[i];
  return fit;
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
    if (!fits(expected[i], given))
      return runtime::Fault{runtime::FaultKind::Internal,
                            fmt::format("input {} is a tensor of {}, expected {}", i,
                                        runtime::shapeText(given.dtype(), given.shape()),
                                        runtime::shapeText(expected[i].dtype, expected[i].shape))};
  }
  return std::nullopt;
}

} // namespace tensor
