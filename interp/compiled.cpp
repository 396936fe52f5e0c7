// Stages as flat code, and when each tensor is read last.
#include "interp/compiled.h"

#include "lower/tensor/given.h"

namespace interp {

Compiled compile(tensor::TensorFunction&& function) {
  Compiled compiled{std::move(function)};
  const tensor::TensorFunction& own = compiled.function;
  compiled.roots = tensor::elementRoots(own);
  compiled.lastUses.assign(own.tensors.size(), 0);
  auto use = [&](uint32_t tensor, size_t stage) {
    compiled.lastUses[compiled.roots[tensor]] = stage;
  };
  for (size_t i = 0; i < own.stages.size(); ++i) {
    FlatStage flat = flatten(own.stages[i], own.tensors[own.inputCount + i]);
    use(uint32_t(own.inputCount + i), i);
    if (own.stages[i].kind != tensor::StageKind::Map)
      use(own.stages[i].source, i);
    for (const FlatLoad& load : flat.loads)
      use(load.tensor, i);
    compiled.stages.push_back(std::move(flat));
  }
  return compiled;
}

size_t bytesOf(const Compiled& compiled) {
  size_t bytes = sizeof compiled;
  for (const FlatStage& stage : compiled.stages)
    bytes += sizeof stage + stage.code.size() * sizeof(Instruction);
  return bytes;
}

} // namespace interp
