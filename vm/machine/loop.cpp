// The loop: every instruction's function inlined, and a jump of its own behind it.
//
// What the loop keeps in machine registers stays there only if no function gets the address of the
// Context; so all that take one are inlined, and what is rare lies in machine.cpp.
//
// Linked code says where the code of an instruction is, in bytes from that of one of them, so a
// jump waits for no table (direct threading: Bell, Threaded Code). Where the loop is too long for
// 16 bits, as with the checks of sanitizers, linked code has numbers into a table.
#include "vm/machine/linked.h"

#include <array>
#include <stdexcept>

namespace vm {

namespace {

constexpr size_t linkedCount = opCount
#define LINKED(...) +1
#define CHAINED(...) +1
#include "vm/machine/linked.def"
    ;
using Places = std::array<uint16_t, linkedCount>;

#ifdef BATON_TABLE_DISPATCH
using Label = const void*;
#define LABEL(name) &&name
#define NEXT goto* labels[at->op]
#else
using Label = int32_t;
#define LABEL(name) int32_t(static_cast<char*>(&&name) - static_cast<char*>(&&Return))
#define NEXT goto*(first + int16_t(at->op))
#endif

/// Runs, or only tells the places, which nothing else can see.
[[gnu::flatten]] void loop(Machine* machine, const Word* at, Places* places) {
  static const Label labels[] = {
#define INSTRUCTION(name, ...) LABEL(name),
#include "vm/machine/instructions.def"
#undef INSTRUCTION
#define LINKED(call, first, handler) LABEL(call##Then##first),
#define CHAINED(name, ...) LABEL(name),
#include "vm/machine/linked.def"
  };
  auto* first = static_cast<const char*>(&&Return);
  if (places) {
    for (size_t i = 0; i < linkedCount; ++i)
#ifdef BATON_TABLE_DISPATCH
      (*places)[i] = uint16_t(i);
#else
      (*places)[i] = labels[i] == int16_t(labels[i])
                         ? uint16_t(labels[i])
                         : throw std::logic_error("the loop needs BATON_TABLE_DISPATCH");
#endif
    return;
  }
  // The compiler would compute it before each jump.
  asm("" : "+r"(first));
  Context context{*machine};
  context.load();
  NEXT;
#define STEP(handler)                                                                              \
  at = handler(context, at);                                                                       \
  NEXT;
#define INSTRUCTION(name, text, handler, ...)                                                      \
  name:                                                                                            \
  if constexpr (Op::name == Op::Stop) {                                                            \
    return context.save();                                                                         \
  }                                                                                                \
  STEP(handler)
#include "vm/machine/instructions.def"
#undef INSTRUCTION
#define LINKED(call, first, handler)                                                               \
  call##Then##first : if (--context.fuel == 0) {                                                   \
    ++context.fuel;                                                                                \
    goto call;                                                                                     \
  }                                                                                                \
  STEP(handler)
#define CHAINED(name, first, second, useSecond, third, useThird, handler)                          \
  name:                                                                                            \
  STEP(handler)
#include "vm/machine/linked.def"
}

} // namespace

void runLoop(Machine& machine, const Word* at) {
  loop(&machine, at, nullptr);
}

std::span<const uint16_t> loopPlaces() {
  static const Places places = [] {
    Places found;
    loop(nullptr, nullptr, &found);
    return found;
  }();
  return places;
}

} // namespace vm
