// Who watches a run: told of every call and return as it happens.
//
// A run that is watched goes through a loop of its own, so that one that is not costs nothing. Of
// what a call is made of nothing is listed anywhere: a call takes fuel, and more or fewer calls are
// open behind it, whatever instruction it was.
#pragma once

#include "runtime/fault.h"
#include "vm/machine/program.h"

#include <functional>

namespace vm {

class Machine;

/// The loop of runs that are watched.
void runObservedLoop(Machine& machine, const Word* at);

struct Observer {
  /// A function was called, whose code starts there; `isTail` if the call before it ended by that.
  std::function<void(uint32_t start, bool isTail)> entered;
  /// The innermost call returned.
  std::function<void()> left;
  /// What a site asks for begins: a kernel, or a call of the host.
  std::function<void(uint32_t site)> asked;
  /// It ended, be it well or not.
  std::function<void()> answered;
  /// Told before of its operands, by their registers, and behind it of the result, if it ended
  /// well; a fault then ends the run. Both or none.
  std::function<void(uint32_t site, const Slot* registers, const uint16_t* operands)> given = {};
  std::function<std::optional<runtime::Fault>(const Slot& result)> check = {};
  /// Named here, so that only who watches runs has this loop in the program.
  void (*loop)(Machine&, const Word*) = runObservedLoop;
};

} // namespace vm
