// The table once more: each instruction is written by the function of write:: that has the name of
// what does it in the machine, so one without does not compile.
#include "vm/native/write_calls.h"

namespace vm::native {

namespace write {

namespace {

void instruction(FunctionWriter& to, const Word* at) {
  switch (Op(at->op)) {
#define INSTRUCTION(name, text, handler, ...)                                                      \
  case Op::name:                                                                                   \
    return (handler)(to, at);
#include "vm/machine/instructions.def"
#undef INSTRUCTION
  }
}

} // namespace

} // namespace write

void writeInstruction(FunctionWriter& writer, const Word* at) {
  write::instruction(writer, at);
}

} // namespace vm::native
