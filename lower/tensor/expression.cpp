// What tensor functions say of themselves.
#include "lower/tensor/expression.h"

namespace tensor {

std::vector<uint32_t> givenTensors(const TensorFunction& function) {
  std::vector<uint32_t> given;
  for (uint32_t input = 0; input < function.inputCount; ++input)
    given.push_back(input);
  given.insert(given.end(), function.results.begin(), function.results.end());
  return given;
}

} // namespace tensor
