// What compilers of blocks and of values share, each on top of those before it.
#pragma once

#include "vm/bytecode/call_compiler.h"
#include "vm/bytecode/object_compiler.h"
#include "vm/bytecode/scalar_calls.h"

namespace bytecode {

struct Parts {
  Parts(Instances& instances, const Instance& instance) : state(instances, instance) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  FunctionState state;
  Holding holding{state};
  MemoryReuse memory{state, holding};
  TupleFields tuples{state, holding};
  ObjectCompiler objects{state, holding, memory};
  CallCompiler calls{state, holding, memory, tuples};
  ScalarCalls scalars{state, holding};
};

} // namespace bytecode
