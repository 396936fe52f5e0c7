// The loop: every instruction's function inlined, and a jump of its own behind it.
//
// What the loop keeps in machine registers stays there only if no function gets the address of the
// Context; so all that take one are inlined, and what is rare lies in machine.cpp.
#include "vm/linked.h"

namespace vm {

[[gnu::flatten]] void runLoop(Machine& machine, const Word* at) {
  static const void* const labels[] = {
#define INSTRUCTION(name, ...) &&name,
#include "vm/instructions.def"
#undef INSTRUCTION
#define LINKED(call, first, handler) &&call##Then##first,
#define CHAINED(name, ...) &&name,
#include "vm/linked.def"
  };
  Context context{machine};
  context.load();
  goto* labels[at->op];
#define STEP(handler)                                                                              \
  at = handler(context, at);                                                                       \
  goto* labels[at->op];
#define INSTRUCTION(name, text, handler, ...)                                                      \
  name:                                                                                            \
  if constexpr (Op::name == Op::Stop) {                                                            \
    return context.save();                                                                         \
  }                                                                                                \
  STEP(handler)
#include "vm/instructions.def"
#undef INSTRUCTION
#define LINKED(call, first, handler)                                                               \
  call##Then##first : if (context.fuel == 1) goto call;                                            \
  STEP(handler)
#define CHAINED(name, first, second, useSecond, third, useThird, handler)                          \
  name:                                                                                            \
  STEP(handler)
#include "vm/linked.def"
}

} // namespace vm
