// Functions that no text has: constructors as functions.
#include "vm/bytecode/code.h"
#include "vm/bytecode/function_compiler.h"

namespace bytecode {

void compileWrapper(Instances& instances, const Instance& instance) {
  Compiled& made = instances.made;
  Code code(false);
  auto count = uint16_t(instance.parameters.size());
  vm::Function function;
  function.parameters = instance.parameters;
  function.isClosure = true;
  function.result = reference;
  function.registers = uint16_t(count + 1);
  std::vector<uint16_t> arguments;
  for (uint16_t i = 0; i < count; ++i)
    arguments.push_back(i);
  function.name = instance.constructor->name;
  uint16_t layout = made.layouts.data(*instance.constructor, instance.environment);
  code.emitFields(Op::Unpack, count, instance.closureLayout, vm::none, {});
  code.emitFields(Op::Make, 0, layout, vm::none, arguments);
  code.emitReturn(0);
  function.start = uint32_t(made.program.code.size());
  code.finish(made.program);
  function.size = uint32_t(made.program.code.size()) - function.start;
  made.program.functions[instance.number] = std::move(function);
}

} // namespace bytecode
