// The machine around its loop, and what is rare in it.
#include "vm/machine/machine.h"

#include "vm/machine/value.h"

#include "runtime/memory.h"
#include "vm/machine/execute.h"
#include "vm/machine/link.h"

#include <algorithm>
#include <utility>

namespace vm {

namespace {

/// A call adds one frame, and two more if what it gives is wrapped.
constexpr size_t framesOfCall = 3;

} // namespace

Machine::Machine(const Program& program, Host host)
    : program_(program), ops_(host.observer ? LinkedOps{} : LinkedOps{loopPlaces()}),
      code_(linkedCode(program, ops_)), host_(std::move(host)), heap_(program.layouts) {
  for (const Function& function : program.functions)
    mostRegisters_ = std::max<size_t>(mostRegisters_, function.registers);
  takeUpLayouts();
  for (const Static& each : program.statics)
    statics_.push_back(each.layout == boxedLayout ? heap_.box(ownValue(each.value))
                                                  : heap_.make(each.layout));
  kernels_.resize(program.kernels.size());
  constexpr size_t mostRoom = 1024, mostSlots = 1 << 16;
  leastRoom_ = std::clamp<size_t>(mostSlots / mostRegisters_, 2, mostRoom);
  if (!addFrames((leastRoom_ + 1) * framesOfCall) || !enlarge((leastRoom_ + 2) * mostRegisters_))
    throw std::bad_alloc();
}

template <typename T>
bool Machine::grow(runtime::PagedArray<T>& stack, size_t size) {
  size_t more = (size - stack.size()) * sizeof(T);
  if (!held_.add(more))
    return false;
  if (stack.grow(size))
    return true;
  held_.remove(more);
  return false;
}

size_t Machine::windowsLeft() const {
  auto slots = size_t(stack_.data() + stack_.size() - state.registers);
  return std::max<size_t>(slots / mostRegisters_, 1) - 1;
}

size_t Machine::framesLeft() const {
  return state.top < frameEnd_ ? size_t(frameEnd_ - state.top) / framesOfCall : 0;
}

/// How many calls there is room for, the one within the other.
size_t Machine::room() const {
  size_t deeper = host_.maximumDepth - std::min(depth(), host_.maximumDepth);
  return std::min({windowsLeft(), framesLeft(), deeper});
}

/// Makes the stacks larger unless there is much room. Where that fails it is not tried again before
/// there is none.
void Machine::makeRoom() {
  size_t least = isFull_ ? 1 : leastRoom_;
  if (framesLeft() < least)
    isFull_ = !addFrames(2 * size_t(frameEnd_ - frames_.data()));
  if (windowsLeft() < least) {
    auto offset = state.registers - stack_.data();
    if (enlarge(2 * stack_.size()))
      state.registers = stack_.data() + offset;
    else
      isFull_ = true;
  }
}

void Machine::refuel(uint64_t calls) {
  fuelGiven_ = uint32_t(std::min({host_.callsOfOneGo, host_.maximumSteps - steps_, calls})) + 1;
  state.fuel = fuelGiven_;
}

/// Why the run must not go on, if so.
Trap Machine::goOn() {
  uint64_t calls = fuelGiven_ - 1;
  steps_ += calls;
  callsSinceAsked_ += calls;
  if (steps_ >= host_.maximumSteps)
    return Trap::Steps;
  if (callsSinceAsked_ >= host_.callsOfOneGo && host_.isInterrupted &&
      host_.isInterrupted(std::exchange(callsSinceAsked_, 0)))
    return Trap::Interrupted;
  return Trap::None;
}

void Machine::takeUpLayouts() {
  heap_.takeUp(program_.layouts);
  for (size_t known = tags_.size(); known < program_.layouts.size(); ++known)
    tags_.push_back(program_.layouts[known].tag);
  for (size_t known = closures_.size(); known < program_.layouts.size(); ++known) {
    const auto& entries = program_.layouts[known].entries;
    closures_.push_back(
        entries.empty()
            ? ClosureEntry()
            : ClosureEntry{entries[0].signature,
                           code_.data() + program_.functions[entries[0].function].start});
  }
}

/// Gives back memory that the program does not need; true when there was some.
bool Machine::reclaim() {
  int64_t before = runtime::heldMemory();
  heap_.cycles().collect();
  for (auto& kernel : kernels_)
    if (kernel)
      kernel->forget();
  return runtime::heldMemory() < before;
}

Trap Machine::run(uint32_t function, std::span<const Slot> arguments, Slot& result) {
  trap_ = Trap::None;
  trapped_ = code_.data() + program_.functions[function].start;
  if (host_.maximumSteps == 0)
    return trap_ = Trap::Steps;
  steps_ = 1;
  isFull_ = false;
  std::ranges::copy(arguments, stack_.data());
  state.registers = stack_.data();
  state.top = frames_.data();
  openWraps = 0;
  openElsewhere = {};
  *state.top++ = {{stop()}, {stack_.data()}};
  refuel(std::max<size_t>(room(), 1));
  try {
    runtime::Reclaimer reclaimer(
        [](void* machine) { return static_cast<Machine*>(machine)->reclaim(); }, this);
    const Word* start = code_.data() + program_.functions[function].start;
    if (const Observer* observer = host_.observer) {
      observer->entered(positionOf(start), false);
      observer->loop(*this, start);
    } else if (!host_.runner.run || !host_.runner.run(*this, function)) {
      runLoop(*this, start);
    }
  } catch (const std::bad_alloc&) {
    trap_ = Trap::Memory;
  }
  if (trap_ == Trap::None)
    result = state.registers[0];
  return trap_;
}

Machine::OpenCalls Machine::openCalls() const {
  OpenCalls calls;
  calls.add(positionOf(trapped_));
  for (size_t i = openElsewhere.size(); i-- > 0;)
    calls.add(openElsewhere[i] - 1);
  for (const Frame* frame = state.top; frame > frames_.data() + 1;)
    if ((--frame)->next == fill())
      --frame;
    else
      calls.add(positionOf(frame->next) - 1);
  return calls;
}

std::optional<uint32_t> Machine::takeNote() {
  const Word* noted = std::exchange(noted_, nullptr);
  return noted ? std::optional(uint32_t(noted - code_.data())) : std::nullopt;
}

/// Makes the stack of frames larger.
bool Machine::addFrames(size_t frames) {
  size_t used = frames_.data() ? framesBelow(state.top) : 0;
  if (!grow(frames_, frames + framesOfCall))
    return false;
  state.top = frames_.data() + used;
  frameEnd_ = frames_.data() + frames;
  return true;
}

/// Makes the stack larger, and moves what frames know of it.
bool Machine::enlarge(size_t slots) {
  auto before = reinterpret_cast<uintptr_t>(stack_.data());
  if (!grow(stack_, slots))
    return false;
  for (Frame* frame = state.top; frame != frames_.data();) {
    --frame;
    frame->registers =
        stack_.data() + (reinterpret_cast<uintptr_t>(frame->registers) - before) / sizeof(Slot);
    if (frame->next == fill())
      --frame;
  }
  return true;
}

/// A call is tried again when there is fuel; one in place of another needs none of the room.
const Word* Slow::refuelFor(Machine& machine, const Word* at, bool needsRoom) {
  machine.trapped_ = at;
  uint64_t calls = machine.fuelGiven_ - 1;
  Trap reason = machine.goOn();
  machine.makeRoom();
  size_t room = machine.room();
  if (reason == Trap::None && needsRoom && room == 0)
    reason = machine.depth() >= machine.host_.maximumDepth ? Trap::Depth : Trap::Memory;
  if (reason != Trap::None)
    return trap(machine, at, reason);
  machine.refuel(std::max<size_t>(room, 1));
  const Runner& runner = machine.host_.runner;
  const Word* next = runner.call ? runner.call(machine, at, calls) : nullptr;
  return next ? next : at;
}

void Slow::settle(Machine& machine) {
  uint64_t calls = machine.fuelGiven_ - machine.state.fuel;
  machine.steps_ += calls;
  machine.callsSinceAsked_ += calls;
  machine.state.fuel = machine.fuelGiven_ = 1;
}

/// The calls of a runner are counted and have room where it keeps them, above those of the loop.
bool Slow::refuelElsewhere(Machine& machine, const Word* at, size_t depth, size_t room,
                           bool needsRoom) {
  machine.trapped_ = at;
  Trap reason = machine.goOn();
  depth += machine.depth();
  size_t deeper = machine.host_.maximumDepth - std::min(depth, machine.host_.maximumDepth);
  if (reason == Trap::None && needsRoom && std::min(deeper, room) == 0)
    reason = deeper == 0 ? Trap::Depth : Trap::Memory;
  if (reason != Trap::None)
    trap(machine, at, reason);
  else
    machine.refuel(std::max<size_t>(std::min(deeper, room), 1));
  return reason == Trap::None;
}

Object* Slow::make(Machine& machine, const Word* at) {
  machine.trapped_ = at;
  Object* object = machine.heap_.makeSlow(at->b);
  if (!object)
    trap(machine, at, Trap::Memory);
  return object;
}

void Slow::open(Machine& machine, const Word* at, uint16_t token, Slot* registers) {
  Heap& heap = machine.heap_;
  Object* object = registers[at->a].object;
  const uint16_t* to = tailOf(at);
  bool isLast = object->references == 1;
  for (uint16_t field : heap.referencesOf(at->b)) {
    Object* inner = object->fields()[field].object;
    if (isLast && to[field] == none)
      heap.release(inner);
    else if (!isLast && to[field] != none)
      Heap::retain(inner);
  }
  if (!isLast)
    --object->references;
  else if (token == none)
    heap.recycle(object, heap.sizeOf(at->b));
  if (token != none)
    registers[token].object = isLast ? object : nullptr;
}

void Slow::takeOperands(Machine& machine, const HostSite& site, const Word* at) {
  const uint16_t* from = tailOf(at);
  machine.operands_.clear();
  for (size_t i = 0; i < site.operands.size(); ++i)
    machine.operands_.push_back(machine.state.registers[from[i]]);
  machine.trapped_ = at;
  if (machine.heap_.cycles().isDue())
    machine.heap_.cycles().collect();
}

const Word* Slow::host(Machine& machine, const Word* at) {
  Slot* registers = machine.state.registers;
  const HostSite& site = machine.program_.sites[wide(*at)];
  takeOperands(machine, site, at);
  Slot result;
  if (!machine.host_.call(wide(*at), machine.operands_, result))
    return trap(machine, at, Trap::Host);
  for (uint16_t given : site.given)
    machine.heap_.release(machine.operands_[given].object);
  if (site.hasResult)
    registers[at->a] = result;
  return behindTail(at, site.operands.size());
}

const Word* Slow::kernel(Machine& machine, const Word* at) {
  const HostSite& site = machine.program_.sites[wide(*at)];
  machine.trapped_ = at;
  if (machine.heap_.cycles().isDue())
    machine.heap_.cycles().collect();
  auto& call = machine.kernels_[site.kernel];
  if (!call)
    call = std::make_unique<KernelCall>(machine.program_.kernels[site.kernel], site.given,
                                        machine.heap_, machine.host_.makeKernel,
                                        machine.host_.mostNanoseconds);
  Slot* registers = machine.state.registers;
  switch (call->run(registers, tailOf(at), registers[at->a])) {
  case KernelCall::Outcome::Unfit:
    return host(machine, at);
  case KernelCall::Outcome::Fault:
    return fail(machine, at, call->fault());
  case KernelCall::Outcome::Done:
    break;
  }
  return isInterruptedBehind(machine, *call) ? trap(machine, at, Trap::Interrupted)
                                             : behindTail(at, site.operands.size());
}

/// Asks the host whether to go on, after many kernels or one that took long.
bool Slow::isInterruptedBehind(Machine& machine, const KernelCall& call) {
  constexpr uint32_t kernelsOfOneGo = 256;
  if (++machine.kernelsSinceAsked_ < kernelsOfOneGo && !call.takesLong())
    return false;
  uint32_t calls = std::exchange(machine.kernelsSinceAsked_, 0);
  return machine.host_.isInterrupted && machine.host_.isInterrupted(calls);
}

const Word* Slow::entryOf(Machine& machine, Object* closure, uint16_t signature) {
  for (const Layout::Entry& entry : machine.program_.layouts[closure->layout].entries)
    if (entry.signature == signature)
      return machine.code_.data() + machine.program_.functions[entry.function].start;
  return nullptr;
}

} // namespace vm
