// A program behind the contract of engines.
#include "lower/engine.h"

#include "lower/tensor_eval.h"

namespace lower {

lang::TensorEngine loopsEngine() {
  return {[](const lang::TensorFunction& function) -> lang::TensorCode {
    auto program = std::make_shared<const Program>(makeProgram(function));
    return {[program, expected = lang::inputTypes(function)](std::span<const runtime::Value> inputs,
                                                             std::vector<runtime::Value>& outputs) {
      auto fault = lang::inputFault(expected, inputs);
      return fault ? fault : run(*program, inputs, outputs);
    }};
  }};
}

} // namespace lower
