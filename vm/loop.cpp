// The loop: every instruction's function inlined, and a jump of its own behind it.
//
// What the loop keeps in machine registers stays there only if no function gets the address of the
// Context; so all that take one are inlined, and what is rare lies in machine.cpp.
#include "vm/execute.h"

namespace vm {

[[gnu::flatten]] void runLoop(Machine& machine, const Word* at) {
  static const void* const labels[] = {
#define INSTRUCTION(name, ...) &&name,
#include "vm/instructions.def"
#undef INSTRUCTION
  };
  Context context{machine};
  context.load();
  goto* labels[at->op];
#define INSTRUCTION(name, text, handler, ...)                                                      \
  name:                                                                                            \
  if constexpr (Op::name == Op::Stop) {                                                            \
    return context.save();                                                                         \
  }                                                                                                \
  at = handler(context, at);                                                                       \
  goto* labels[at->op];
#include "vm/instructions.def"
#undef INSTRUCTION
}

} // namespace vm
