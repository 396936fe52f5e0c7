// Symbols of a part have the number of its nest: two targets may have the same nest.
#include "driver/products/program_module.h"

#include "codegen/image/levels.h"
#include "codegen/native/native_code.h"
#include "driver/products/machine_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace driver {

namespace {

codegen::TargetModel modelOf(const Target& target, size_t number) {
  const codegen::Processor& processor = target.processor;
  codegen::TargetModel model = codegen::targetOf(processor);
  model.prefix = fmt::format("kernel{}_", number);
  model.linkage = "internal ";
  model.attributes = fmt::format("\"target-cpu\"=\"{}\" \"target-features\"=\"{}\" ",
                                 processor.name, processor.features);
  return model;
}

} // namespace

ProgramModule programModule(const executable::Executable& made, loops::Numbers numbers,
                            const std::vector<Target>& targets) {
  ProgramModule whole{.text = std::string(codegen::helperDeclarations),
                      .base = *codegen::targetNamed(codegen::levelsOf(targets[0].name).empty()
                                                        ? codegen::armTarget
                                                        : "x86-64")};
  for (const Target& target : targets)
    for (KernelNest& each : kernelNests(made, numbers, target)) {
      auto module = codegen::moduleOf(each.nest, modelOf(target, whole.machineCode.size()));
      if (!module)
        continue;
      codegen::NestCode code = codegen::codeWithout(*module);
      for (codegen::CodePart& part : code.parts)
        part.entry += uint32_t(whole.functions.size());
      for (const codegen::Part& part : module->parts)
        whole.functions.push_back(part.symbol);
      whole.text += fmt::format("; For {}: kernels {} of the program.\n\n{}", target.name,
                                fmt::join(each.kernels, ", "), module->functions);
      whole.machineCode.push_back({target.name, std::move(each.kernels), codegen::bytesOf(code)});
    }
  return whole;
}

} // namespace driver
