// What tensor functions say of themselves.
#include "lower/tensor/expression.h"

namespace tensor {

const ScalarNode* addSize(TensorFunction& function, SizeParameter size) {
  auto number = uint32_t(function.sizes.size());
  function.sizes.push_back(size);
  return function.arena->make<ScalarSize>(ScalarNode{ScalarKind::Size, runtime::Int64}, number);
}

std::vector<uint32_t> givenTensors(const TensorFunction& function) {
  std::vector<uint32_t> given;
  for (uint32_t input = 0; input < function.inputCount; ++input)
    given.push_back(input);
  given.insert(given.end(), function.results.begin(), function.results.end());
  return given;
}

} // namespace tensor
