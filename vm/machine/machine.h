// The machine: registers, frames, and the loop that runs code.
//
// Registers of a call are a window of one stack; arguments are put where the window of the callee
// begins, so that a call copies nothing. Frames lie on a stack of their own. Both are on the heap
// and grow, so depth is a matter of memory and of a limit. The machine is for programs that the
// verifier accepts; only what a program cannot promise by its form is checked as it runs.
#pragma once

#include "runtime/open_calls.h"
#include "runtime/pages.h"
#include "vm/machine/kernel.h"
#include "vm/machine/link.h"
#include "vm/machine/observer.h"

#include <functional>
#include <limits>
#include <optional>

namespace vm {

class Machine;

/// What runs functions of the machine's program in place of the loop: from the start of a run on,
/// or from a call within it.
struct Runner {
  /// Runs a function whose arguments are in the registers of the state, where its result comes.
  /// False where the loop has to.
  std::function<bool(Machine&, uint32_t function)> run = nullptr;
  /// Asked at a call of the loop's for which there are fuel and room, so many calls after it was
  /// asked last: makes the call and says where the loop goes on, or says null.
  std::function<const Word*(Machine&, const Word* at, uint64_t calls)> call = nullptr;
};

/// Why a run ended without a result. Host: the host's call failed, and the host knows why.
enum class Trap : uint8_t {
  None,
  DivisionByZero,
  Depth,
  Steps,
  Interrupted,
  Memory,
  Host,
  /// An object is not of the layout or signature that the code says.
  WrongObject
};

/// What runs the machine.
struct Host {
  /// Does what a site asks for; false when it fails. The result of a reference is owned.
  std::function<bool(uint32_t site, std::span<const Slot> operands, Slot& result)> call;
  /// Asked now and then, with the number of calls since it was asked last; true ends the run.
  std::function<bool(uint64_t calls)> isInterrupted = {};
  /// Told why what a site asks for failed, if the host did not do it.
  std::function<void(uint32_t site, const runtime::Fault& fault)> kernelFailed = {};
  /// What makes kernels of tensor functions; without it the host's call does what they would.
  tensor::MakeKernel makeKernel = nullptr;
  /// What a run may take; a kernel that is sure to take far longer is not begun.
  double mostNanoseconds = std::numeric_limits<double>::infinity();
  size_t maximumDepth = 5'000'000;
  /// Calls that a run may make, its own included.
  uint64_t maximumSteps = UINT64_MAX;
  /// Who watches the run, or null.
  const Observer* observer = nullptr;
  /// Not for a run that is watched.
  Runner runner = {};
  /// Calls between two questions, and the most that the loop makes before it asks the runner.
  uint64_t callsOfOneGo = 4096;
};

/// A call in progress: where its caller goes on, and the caller's registers. Of a wrapped call,
/// whose caller ended, there is one more below: the object that is the result in its place, and the
/// field in it that this one's goes to.
struct Frame {
  union {
    const Word* next;
    Object* whole;
  };
  union {
    Slot* registers;
    Slot* missing;
  };
};

/// What the loop keeps in registers of its own while it runs.
struct State {
  Slot* registers = nullptr;
  /// Where the next frame goes.
  Frame* top = nullptr;
  /// One more than the calls that may be made until it is given again; for these there is room.
  uint32_t fuel = 0;
};

class Machine {
public:
  /// The program must outlive the machine. Makes its static objects.
  Machine(const Program& program, Host host);

  Heap& heap() { return heap_; }
  /// Takes up layouts that were added to the program.
  void takeUpLayouts();

  /// Calls a function, which takes over the arguments it owns; the result is owned.
  Trap run(uint32_t function, std::span<const Slot> arguments, Slot& result);

  /// After a trap: where the code was, as positions in the program's code; behind the trap itself,
  /// the calls.
  using OpenCalls = runtime::OpenCalls<uint32_t, 9>;
  OpenCalls openCalls() const;
  /// Where the call noted last stands, as a position in the program's code; it is told once.
  std::optional<uint32_t> takeNote();
  /// How many calls are open; one that is wrapped has two frames more.
  size_t depth() const { return framesBelow(state.top) - 2 * openWraps; }
  size_t framesBelow(const Frame* top) const { return size_t(top - frames_.data()); }
  /// Of code, in the program's.
  uint32_t positionOf(const Word* at) const { return uint32_t(at - code_.data()); }
  const Observer* observer() const { return host_.observer; }

  // For the instructions.

  /// True where the loop calls what looks at it, and before and after the loop.
  State state;
  /// How many frames tell what a wrapped call is a part of.
  size_t openWraps = 0;
  const Program& program() const { return program_; }
  Object* staticObject(uint32_t index) const { return statics_[index]; }
  /// Ends a run: what Stop and every trap lead to.
  const Word* stop() const { return &stop_; }
  /// Where a call returns to whose result is a field of an object: no code of a program.
  const Word* fill() const { return &fill_; }
  const LinkedOps& ops() const { return ops_; }
  uint16_t tagOf(const Object* object) const { return tags_[object->layout]; }
  /// The first way to call closures of a layout.
  struct ClosureEntry {
    uint16_t signature = none;
    const Word* code = nullptr;
  };
  const ClosureEntry& closureEntry(uint16_t layout) const { return closures_[layout]; }
  void note(const Word* at) { noted_ = at; }
  const Word* code() const { return code_.data(); }
  std::span<Object* const> statics() const { return {statics_.data(), statics_.size()}; }
  std::span<const uint16_t> tags() const { return {tags_.data(), tags_.size()}; }
  Trap trap() const { return trap_; }
  /// The calls that a runner has open, outermost first: where each goes on in the code.
  std::span<const uint32_t> openElsewhere;

private:
  friend struct Slow;

  bool reclaim();
  bool enlarge(size_t slots);
  bool addFrames(size_t frames);
  size_t windowsLeft() const;
  size_t framesLeft() const;
  size_t room() const;
  void makeRoom();
  Trap goOn();
  /// Gives the code fuel for so many calls at most.
  void refuel(uint64_t calls);
  /// Makes room on a stack; false when the run may hold no more memory.
  template <typename T>
  bool grow(runtime::PagedArray<T>& stack, size_t size);

  const Program& program_;
  LinkedOps ops_;
  /// The program's code, linked.
  std::vector<Word> code_;
  Word stop_{ops_.of(Op::Stop), 0, 0, 0};
  Word fill_{ops_.of(Op::Fill), 0, 0, 0};
  Host host_;
  Heap heap_;
  runtime::List<Object*> statics_;
  runtime::List<uint16_t> tags_;
  runtime::List<ClosureEntry> closures_;
  /// Of the two stacks.
  runtime::HeldMemory held_;
  /// By number, from their first calls on.
  runtime::List<std::unique_ptr<KernelCall>> kernels_;
  runtime::PagedArray<Slot> stack_;
  runtime::PagedArray<Frame> frames_;
  /// Of any function.
  size_t mostRegisters_ = 1;
  /// Behind it is room for the frames of one more call.
  Frame* frameEnd_ = nullptr;
  /// The stacks are made larger when there is room for fewer calls, unless they can't be.
  size_t leastRoom_ = 1;
  bool isFull_ = false;
  /// The fuel that was given last, and the calls made before.
  uint32_t fuelGiven_ = 0;
  uint64_t steps_ = 0;
  uint64_t callsSinceAsked_ = 0;
  uint32_t kernelsSinceAsked_ = 0;
  Trap trap_ = Trap::None;
  const Word* noted_ = nullptr;
  /// The instruction that trapped.
  const Word* trapped_ = nullptr;
  std::vector<Slot> operands_;
};

} // namespace vm
