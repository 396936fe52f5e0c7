// Whatever code asks for stands between two stacks: nothing is thrown through code, and a run that
// ends leaves it at once.
#include "vm/native/native_run.h"

#include "vm/machine/execute.h"
#include "vm/native/module.h"

#include <array>
#include <cstddef>

namespace vm::native {

namespace {

size_t bytesOfCall(const Program& program) {
  // A word for each register and for each that has to be kept, and what calls take.
  size_t most = 0;
  for (const Function& function : program.functions)
    most = std::max<size_t>(most, function.registers);
  return 128 + 16 * most;
}

/// What the loop does at each instruction.
using Handler = const Word* (*)(Context&, const Word*);
constexpr std::array<Handler, opCount> handlers{
#define INSTRUCTION(name, text, handler, ...)                                                      \
  [](Context& context, const Word* at) -> const Word* { return (handler)(context, at); },
#include "vm/machine/instructions.def"
#undef INSTRUCTION
};

} // namespace

/// The functions of Helpers.
struct Asked {
  static NativeRun& runOf(NativeContext* context) {
    return *static_cast<NativeRun*>(context->runner);
  }
  static const Word* at(NativeRun& run, uint64_t position) {
    return run.machine_->code() + position;
  }

  static void step(NativeContext* context, uint64_t position, Frame* top) {
    NativeRun& run = runOf(context);
    bool goesOn = run.answer(position, top, [&](Machine& machine, const Word* at) {
      Context now{machine};
      now.load();
      return handlers[run.program_.code[position].op](now, at) != machine.stop();
    });
    if (!goesOn)
      run.end(top);
  }

  static uint64_t refuel(NativeContext* context, uint64_t position, Frame* top,
                         uint64_t needsRoom) {
    NativeRun& run = runOf(context);
    bool goesOn = run.answer(position, top, [&](Machine& machine, const Word* at) {
      auto depth = size_t(top - run.stack_.frames()) - 1;
      return Slow::refuelElsewhere(machine, at, depth, run.stack_.room(&depth, top),
                                   needsRoom != 0);
    });
    if (!goesOn)
      run.end(top);
    return run.machine_->state.fuel;
  }

  static void trap(NativeContext* context, uint64_t position, Frame* top, uint64_t trap) {
    NativeRun& run = runOf(context);
    Slow::trap(*run.machine_, at(run, position), Trap(trap));
    run.end(top);
  }

  static Object* make(NativeContext* context, uint64_t position, Frame* top) {
    NativeRun& run = runOf(context);
    Object* made = run.answer(
        position, top, [](Machine& machine, const Word* at) { return Slow::make(machine, at); });
    if (!made)
      run.end(top);
    return made;
  }

  static Object* open(NativeContext* context, uint64_t position, Object* object,
                      uint64_t keepsMemory) {
    NativeRun& run = runOf(context);
    const Word* at = Asked::at(run, position);
    Slot& place = context->window[at->a];
    place.object = object;
    Slow::open(*run.machine_, at, keepsMemory ? at->a : none, context->window);
    return place.object;
  }

  static Object* moved(NativeContext* context, Object* object, uint64_t fields) {
    return runOf(context).machine_->heap().moved(object, uint16_t(fields));
  }

  static void release(NativeContext* context, Object* object) {
    runOf(context).machine_->heap().release(object);
  }

  static const void* entryOf(NativeContext* context, uint64_t position, Frame* top, Object* closure,
                             uint64_t signature) {
    NativeRun& run = runOf(context);
    const auto& entries = run.program_.layouts[closure->layout].entries;
    auto found = std::ranges::find(entries, signature, &Layout::Entry::signature);
    if (found == entries.end())
      trap(context, position, top, uint64_t(Trap::WrongObject));
    return run.functions_[found->function];
  }
};

NativeRun::NativeRun(const Program& program, std::shared_ptr<const codegen::LoadedImage> image)
    : program_(program), image_(std::move(image)), stack_(bytesOfCall(program)) {
  size_t entry = 0;
  context_ = reinterpret_cast<NativeContext* (*)()>(image_->entry(entry++))();
  for (size_t i = 0; i < program.functions.size(); ++i)
    functions_.push_back(image_->entry(entry++));
  for (const Function& function : program.functions)
    enter_[function.start] = reinterpret_cast<Enter*>(image_->entry(entry++));
}

/// Does something for code; what is thrown ends the run.
template <typename Answer>
std::invoke_result_t<Answer, Machine&, const Word*> NativeRun::answer(uint64_t position, Frame* top,
                                                                      Answer&& answer) {
  const Word* at = machine_->code() + position;
  try {
    return answer(*machine_, at);
  } catch (const std::bad_alloc&) {
    Slow::trap(*machine_, at, Trap::Memory);
  } catch (...) {
    thrown_ = std::current_exception();
  }
  end(top);
}

void NativeRun::end(Frame* top) {
  machine_->openElsewhere = {stack_.frames() + 1, top};
  stack_.leave();
}

void NativeRun::bind(Machine& machine) {
  machine_ = &machine;
  for (size_t known = closures_.size(); known < program_.layouts.size(); ++known) {
    const auto& entries = program_.layouts[known].entries;
    closures_.push_back(entries.empty()
                            ? ClosureCode{none + size_t(1), nullptr}
                            : ClosureCode{entries[0].signature, functions_[entries[0].function]});
  }
  *context_ = {.heap = &machine.heap().front(),
               .window = machine.state.registers,
               .statics = machine.statics().data(),
               .tags = machine.tags().data(),
               .closures = closures_.data(),
               .helpers = {.step = Asked::step,
                           .refuel = Asked::refuel,
                           .trap = Asked::trap,
                           .make = Asked::make,
                           .open = Asked::open,
                           .moved = Asked::moved,
                           .release = Asked::release,
                           .entryOf = Asked::entryOf},
               .runner = this};
}

void NativeRun::run(Machine& machine, uint32_t function) {
  enter(machine, program_.functions[function].start);
}

/// The instruction opens the call, but begins no function: where it is linked to do so, it leads
/// behind what it begins with.

const Word* NativeRun::call(Machine& machine, const Word* at) {
  Context now{machine};
  now.load();
  const Word* start = handlers[program_.code[machine.positionOf(at)].op](now, at);
  now.save();
  if (start == machine.stop())
    return start;
  enter(machine, machine.positionOf(start));
  if (machine.trap() != Trap::None)
    return machine.stop();
  Slow::settle(machine);
  now.load();
  const Word* next = leave(now);
  now.save();
  return next;
}

NativeRun::Enter* NativeRun::enterOf(uint32_t position) const {
  return std::prev(enter_.upper_bound(position))->second;
}

void NativeRun::enter(Machine& machine, uint32_t position) {
  bind(machine);
  thrown_ = nullptr;
  // The call itself is open where the machine keeps those of its loop.
  Frame* top = stack_.frames();
  *top++ = 0;
  machine.state.fuel = uint32_t(stack_.run(enterOf(position), machine.state.fuel, top));
  if (thrown_)
    std::rethrow_exception(thrown_);
}

} // namespace vm::native
