// What jumps, moves and what the machine does become.
#pragma once

#include "vm/machine/operands.h"
#include "vm/native/access.h"

#include <cstddef>
#include <fmt/format.h>

namespace vm::native::write {

/// Puts a register where the machine looks for it, or gets one from there.
inline void lay(FunctionWriter& to, uint16_t reg) {
  store(to, to.word(reg), window(to, reg));
}
inline void take(FunctionWriter& to, uint16_t reg) {
  to.write(reg, loadAs(to, wordType, window(to, reg)));
}
/// Has the machine do the instruction.
inline void step(FunctionWriter& to, const Word* at) {
  callHelper(to, offsetof(NativeContext, helpers.step), here(to, at));
}

inline const uint16_t* tailOf(const Word* at) {
  return reinterpret_cast<const uint16_t*>(at + 1);
}

inline void move(FunctionWriter& to, const Word* at) {
  to.copy(at->a, at->b);
}
inline void loadLong(FunctionWriter& to, const Word* at) {
  to.write(at->a, number(int32_t(wide(*at))));
}
inline void loadWord(FunctionWriter& to, const Word* at) {
  to.write(at->a, number(int64_t(to.program().words[wide(*at)])));
}

inline void jump(FunctionWriter& to, const Word* at) {
  to.jump(to.targetOf(at, int32_t(wide(*at))));
}
/// Goes on behind the instruction if the bit is set.
inline void jumpUnlessBit(FunctionWriter& to, const Word* at, const IrValue& bit, int64_t words) {
  std::string next = to.text.newLabel();
  to.branch(bit, next, to.targetOf(at, words));
  to.open(next);
}
inline void jumpUnless(FunctionWriter& to, const Word* at) {
  jumpUnlessBit(to, at, to.read(at->a, {Element::Bit}), int32_t(wide(*at)));
}
inline void jumpIf(FunctionWriter& to, const Word* at) {
  std::string next = to.text.newLabel();
  to.branch(to.read(at->a, {Element::Bit}), to.targetOf(at, int32_t(wide(*at))), next);
  to.open(next);
}

/// What no code of a program has.
inline void stop(FunctionWriter&, const Word*) {
  throw NotCompiled("an instruction of the machine's own");
}
inline void fill(FunctionWriter& to, const Word* at) {
  stop(to, at);
}

inline void note(FunctionWriter& to, const Word* at) {
  step(to, at);
}

inline void host(FunctionWriter& to, const Word* at) {
  const HostSite& site = to.program().sites[wide(*at)];
  for (size_t i = 0; i < site.operands.size(); ++i)
    lay(to, tailOf(at)[i]);
  step(to, at);
  if (site.neverReturns())
    return to.end("unreachable");
  if (site.hasResult)
    take(to, at->a);
}
inline void kernel(FunctionWriter& to, const Word* at) {
  host(to, at);
}

} // namespace vm::native::write
