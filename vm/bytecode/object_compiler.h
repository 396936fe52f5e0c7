// What makes values: objects, closures, cells, and atoms as they stand.
#pragma once

#include "vm/bytecode/memory_reuse.h"

namespace bytecode {

class ObjectCompiler {
public:
  ObjectCompiler(FunctionState& state, Holding& holding, MemoryReuse& memory)
      : state_(state), holding_(holding), memory_(memory) {}

  void construct(Scope& scope, const Binding& binding, uint16_t layout,
                 std::span<const Operand> fields, lang::Types types,
                 const Environment& environment);
  void closure(Scope& scope, const Binding& binding, const lang::Function& function);
  void atom(Scope& scope, const Binding& binding, const Expr& atom);
  void readCell(Scope& scope, const Binding& binding, const lang::RefRead& value);
  void writeCell(Scope& scope, const Binding& binding, const lang::RefWrite& value);
  void unit(Scope& scope, const Binding& binding);

private:
  FunctionState& state_;
  Holding& holding_;
  MemoryReuse& memory_;
};

} // namespace bytecode
