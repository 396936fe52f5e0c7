// The loop again, with an eye on what each instruction did to the calls.
//
// For instructions that call nothing the comparisons fold to nothing, since the compiler sees that
// they leave frames and fuel alone; for the same reason as in loop.cpp, nobody gets the address of
// the Context.
#include "vm/machine/execute.h"
#include "vm/machine/operands.h"

namespace vm {

namespace {

/// The calls before an instruction.
struct Before {
  size_t depth;
  uint32_t fuel;
};

Before before(const Context& x) {
  return {x.machine.framesBelow(x.top), x.fuel};
}

/// A call that finds no room or no fuel is tried again, and has taken none by then, or ends the
/// run.
void tell(const Observer& observer, const Context& x, Before was, const Word* next) {
  size_t depth = x.machine.framesBelow(x.top);
  if (depth < was.depth)
    observer.left();
  else if (x.fuel < was.fuel && next != x.machine.stop())
    observer.entered(x.machine.positionOf(next), depth == was.depth);
}

void ask(const Observer& observer, const Slot* registers, const Word* site) {
  observer.asked(wide(*site));
  if (observer.given)
    observer.given(wide(*site), registers, tailOf(site));
}

/// Goes on behind a site, unless who watches has found a fault in its result.
const Word* answer(const Observer& observer, Machine& machine, const Slot* registers,
                   const Word* site, const Word* next) {
  observer.answered();
  if (!observer.check || next == machine.stop())
    return next;
  auto fault = observer.check(registers[site->a]);
  return fault ? Slow::fail(machine, site, *fault) : next;
}

} // namespace

[[gnu::flatten]] void runObservedLoop(Machine& machine, const Word* at) {
  static const void* const labels[] = {
#define INSTRUCTION(name, ...) &&name,
#include "vm/machine/instructions.def"
#undef INSTRUCTION
  };
  const Observer& observer = *machine.observer();
  Context context{machine};
  context.load();
  goto* labels[at->op];
#define INSTRUCTION(name, text, handler, a, b, c, tail, ...)                                       \
  name : {                                                                                         \
    if constexpr (Op::name == Op::Stop)                                                            \
      return context.save();                                                                       \
    const Before was = before(context);                                                            \
    if constexpr (OperandKind::tail == OperandKind::Operands)                                      \
      ask(observer, context.r, at);                                                                \
    [[maybe_unused]] const Word* site = at;                                                        \
    at = handler(context, at);                                                                     \
    if constexpr (OperandKind::tail == OperandKind::Operands)                                      \
      at = answer(observer, machine, context.r, site, at);                                         \
    if constexpr (Op::name != Op::Fill)                                                            \
      tell(observer, context, was, at);                                                            \
  }                                                                                                \
  goto* labels[at->op];
#include "vm/machine/instructions.def"
#undef INSTRUCTION
}

} // namespace vm
