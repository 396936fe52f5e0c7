// The loop, and what is rare.
#include "vm/machine.h"

#include "vm/execute.h"

#include <algorithm>
#include <utility>

namespace vm {

namespace {

/// Calls between two questions to the host.
constexpr uint32_t fuelOfOneGo = 4096;

/// Runs from `at` to the end of the run; gives the registers that hold the result.
Slot* runLoop(Machine& machine, const Word* at, Slot* registers) {
  static const void* const labels[] = {
#define INSTRUCTION(name, ...) &&name,
#include "vm/instructions.def"
#undef INSTRUCTION
  };
  Context context{machine, registers};
  goto* labels[at->op];
#define INSTRUCTION(name, text, handler, ...)                                                      \
  name:                                                                                            \
  if constexpr (Op::name == Op::Stop)                                                              \
    return context.r;                                                                              \
  at = handler(context, at);                                                                       \
  goto* labels[at->op];
#include "vm/instructions.def"
#undef INSTRUCTION
}

} // namespace

Machine::Machine(const Program& program, Host host)
    : program_(program), host_(std::move(host)), heap_(program.layouts), stack_(1024), frames_(256),
      fuel_(fuelOfOneGo) {
  for (const Function& function : program.functions)
    entries_.push_back({program.code.data() + function.start, function.registers,
                        uint32_t(function.parameters.size())});
  takeUpLayouts();
  for (const Static& each : program.statics)
    statics_.push_back(each.layout == boxedLayout ? heap_.box(each.value)
                                                  : heap_.make(each.layout));
  stackEnd_ = stack_.data() + stack_.size();
  frameTop_ = frames_.data();
  frameEnd_ = frameTop_ + frames_.size();
}

void Machine::takeUpLayouts() {
  heap_.takeUp(program_.layouts);
  for (size_t known = tags_.size(); known < program_.layouts.size(); ++known)
    tags_.push_back(program_.layouts[known].tag);
  for (size_t known = closures_.size(); known < program_.layouts.size(); ++known) {
    const auto& entries = program_.layouts[known].entries;
    closures_.push_back(entries.empty()
                            ? ClosureEntry()
                            : ClosureEntry{entries[0].signature, &entries_[entries[0].function]});
  }
}

Trap Machine::run(uint32_t function, std::span<const Slot> arguments, Slot& result) {
  const Function& entry = program_.functions[function];
  trap_ = Trap::None;
  try {
    while (stack_.size() < entry.registers + size_t(1))
      stack_.resize(2 * stack_.size());
    stackEnd_ = stack_.data() + stack_.size();
    std::ranges::copy(arguments, stack_.begin());
    pushFrame({&stopWord, stack_.data()});
    Slot* registers = runLoop(*this, program_.code.data() + entry.start, stack_.data());
    if (trap_ == Trap::None)
      result = registers[0];
  } catch (const std::bad_alloc&) {
    trap_ = Trap::Memory;
  }
  return trap_;
}

std::vector<uint32_t> Machine::openCalls(size_t most) const {
  std::vector<uint32_t> calls;
  if (trapped_)
    calls.push_back(uint32_t(trapped_ - program_.code.data()));
  for (const Frame* frame = frameTop_; frame != frames_.data() + 1 && calls.size() < most;)
    calls.push_back(uint32_t((--frame)->next - program_.code.data()) - 1);
  return calls;
}

std::optional<uint32_t> Machine::takeNote() {
  const Word* noted = std::exchange(noted_, nullptr);
  return noted ? std::optional(uint32_t(noted - program_.code.data())) : std::nullopt;
}

Landing Slow::makeRoom(Machine& machine, const Word* at, Slot* registers, Slot* window,
                       size_t count) {
  Machine& m = machine;
  m.trapped_ = at;
  if (m.fuel_ == 0) {
    m.fuel_ = fuelOfOneGo;
    if (m.host_.isInterrupted && m.host_.isInterrupted(fuelOfOneGo))
      return {trap(m, at, Trap::Interrupted), registers};
  }
  if (m.frameTop_ == m.frameEnd_) {
    size_t depth = m.depth();
    if (depth >= m.host_.maximumDepth)
      return {trap(m, at, Trap::Depth), registers};
    m.frames_.resize(std::min(2 * depth, m.host_.maximumDepth));
    m.frameTop_ = m.frames_.data() + depth;
    m.frameEnd_ = m.frames_.data() + m.frames_.size();
  }
  if (window + count > m.stackEnd_) {
    const Slot* before = m.stack_.data();
    size_t wanted = size_t(window - before) + count;
    std::vector<Slot> larger(std::max(wanted, 2 * m.stack_.size()));
    std::copy(before, m.stackEnd_, larger.data());
    for (Frame* frame = m.frames_.data(); frame != m.frameTop_; ++frame)
      frame->registers = larger.data() + (frame->registers - before);
    registers = larger.data() + (registers - before);
    m.stack_ = std::move(larger);
    m.stackEnd_ = m.stack_.data() + m.stack_.size();
  }
  return {at, registers};
}

const Word* Slow::host(Machine& machine, const Word* at, Slot* registers) {
  const HostSite& site = machine.program_.sites[wide(*at)];
  const uint16_t* from = tailOf(at);
  machine.operands_.clear();
  for (size_t i = 0; i < site.operands.size(); ++i)
    machine.operands_.push_back(registers[from[i]]);
  machine.trapped_ = at;
  Slot result;
  if (!machine.host_.call(wide(*at), machine.operands_, result))
    return trap(machine, at, Trap::Host);
  if (site.hasResult)
    registers[at->a] = result;
  return behindTail(at, site.operands.size());
}

const Entry* Slow::entryOf(Machine& machine, Object* closure, uint16_t signature) {
  for (const Layout::Entry& entry : machine.program_.layouts[closure->layout].entries)
    if (entry.signature == signature)
      return &machine.entries_[entry.function];
  return nullptr;
}

} // namespace vm
