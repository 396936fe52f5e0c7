// What the machine leaves to the language: operators that neither kernels nor native functions do,
// values at the ends of the run, and what lies inside of data types in its result.
#include "vm/bytecode/run.h"

#include "lang/calls/run_value.h"
#include "runtime/memory.h"
#include "vm/bytecode/convert.h"
#include "vm/bytecode/language_sites.h"
#include "vm/bytecode/link.h"
#include "vm/bytecode/profile.h"
#include "vm/bytecode/trap.h"

#include <chrono>
#include <ctime>

namespace bytecode {

using namespace lang;
using runtime::FaultKind;
using runtime::RunFault;
using runtime::Value;
using vm::Slot;

namespace {

/// What is run, with what the language knows of it.
struct Subject {
  const vm::Program& program;
  Layouts& layouts;
  const std::deque<OperatorSite>& sites;
  RunChecks& checks;
  const Typing& typing;
  const OperatorTable& operators;
  /// Which of the program's entries is called.
  size_t number;
  /// Only its parameters count, and of these as many as there are arguments.
  const Function& entry;
  ResultType result;
  SourceRange range;
};

class Run {
public:
  Run(const Subject& subject, const Options& options)
      : subject_(subject), options_(options),
        sites_(subject.program, subject.sites, subject.typing, subject.operators, options.engine),
        run_(subject.program, options.run,
             [this](uint32_t site, std::span<const Slot> operands, vm::Machine&, Slot& result,
                    std::optional<runtime::Fault> found) {
               return sites_.apply(site, operands, reader_, result, std::move(found));
             }),
        reader_(subject.layouts, run_.machine()) {}

  std::variant<Value, RunFault> call(std::vector<Value> arguments) {
    const checks::KnownSizes sizes = sizesOf(subject_.entry, arguments, subject_.checks);
    std::vector<Slot> slots;
    for (size_t i = 0; i < arguments.size(); ++i)
      slots.push_back(
          reader_.read(arguments[i], subject_.typing.of(*subject_.entry.parameters[i])));
    arguments.clear();
    run_.machine().takeUpLayouts();
    auto result = run_.call(subject_.number, slots);
    if (options_.profile)
      options_.profile->finish();
    if (auto* fault = std::get_if<RunFault>(&result))
      return std::move(*fault);
    const Slot slot = std::get<Slot>(result);
    const Rep rep = subject_.program.functions[subject_.program.entries[subject_.number]].result;
    Value value;
    try {
      value = vm::toValue(subject_.program, rep, slot);
    } catch (const std::bad_alloc&) {
      return resultTooLarge();
    }
    if (!rep.isScalar())
      run_.machine().heap().release(slot.object);
    if (auto fault = checkWhole(subject_.entry, subject_.result, value, subject_.checks, sizes))
      return *std::move(fault);
    return value;
  }

private:
  /// What the run holds is in the heap still, and what was made of it is gone.
  RunFault resultTooLarge() const {
    RunFault fault{{FaultKind::Memory, "out of memory for the result"}, subject_.range};
    fault.notes.push_back(runtime::heldText());
    fault.notes.push_back("data take more memory where they can be shown than in the run");
    return fault;
  }

  const Subject& subject_;
  const Options& options_;
  LanguageSites sites_;
  vm::Run run_;
  ValueReader reader_;
};

double processorSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

/// Calls until the goal is reached, or there is a fault.
std::variant<Value, RunFault> repeat(Run& run, const std::vector<Value>& arguments,
                                     const Repetition::Goal& goal, Repetition::Calls& calls) {
  using Clock = std::chrono::steady_clock;
  double total = 0;
  std::variant<Value, RunFault> result;
  do {
    std::vector<Value> given = arguments;
    Clock::time_point start = Clock::now();
    double processorStart = processorSeconds();
    result = run.call(std::move(given));
    if (std::holds_alternative<RunFault>(result))
      return result;
    double processor = processorSeconds() - processorStart;
    calls.push_back({std::chrono::duration<double>(Clock::now() - start).count(), processor});
    total += calls.back().clock;
  } while (calls.size() < goal.least || total < goal.seconds);
  return result;
}

std::variant<Value, RunFault> repeat(Run& run, const std::vector<Value>& arguments,
                                     Repetition& repetition) {
  auto result = repeat(run, arguments, repetition.warmUp, repetition.warmUpCalls);
  if (std::holds_alternative<Value>(result))
    result = repeat(run, arguments, repetition.timed, repetition.calls);
  if (std::holds_alternative<RunFault>(result))
    return result;
  repetition.watch.begin();
  return repeat(run, arguments, repetition.watched, repetition.watchedCalls);
}

void announceKernels(const vm::Program& program, const tensor::TensorEngine& engine) {
  if (!engine.prepare)
    return;
  std::vector<const tensor::TensorFunction*> functions;
  for (const vm::KernelSite& site : program.kernels)
    functions.push_back(&site.function);
  engine.prepare(functions);
}

std::variant<Value, RunFault> runWithin(const Subject& subject, std::vector<Value> arguments,
                                        Options options) {
  std::optional<Profiler> profiler;
  options.run.makeKernel = options.engine.makeKernel;
  if (options.repetition && options.run.makeKernel)
    options.run.makeKernel =
        options.repetition->watch.watched(subject.program, options.run.makeKernel);
  if (options.profile)
    options.run.observer =
        &profiler.emplace(subject.program, *options.profile, options.texts).observer();
  std::optional<NonFiniteTrap> trap;
  if (options.trapsNonFinite)
    options.run.observer = &trap.emplace(subject.program).observer();
  if (options.makeRunner && !options.run.observer)
    options.run.runner = options.makeRunner(subject.program);
  runtime::MemoryLimit limit(options.run.limits.memory);
  try {
    announceKernels(subject.program, options.engine);
    Run run(subject, options);
    return options.repetition ? repeat(run, arguments, *options.repetition)
                              : run.call(std::move(arguments));
  } catch (const std::bad_alloc&) {
    RunFault fault{{FaultKind::Memory, "out of memory"}, subject.range};
    fault.notes.push_back(runtime::heldText());
    return fault;
  }
}

} // namespace

std::variant<Value, RunFault> run(const Module& module, const Typing& typing,
                                  const OperatorTable& operators, const Global& entry,
                                  std::vector<Value> arguments, const Options& options) {
  std::unique_ptr<Compiled> compiled =
      compile(module, typing, operators, std::array{&entry},
              options.trapsNonFinite ? Watching::Results : Watching::Nothing);
  requireSound(compiled->program);
  const Function& function = *entry.function;
  return runWithin({compiled->program, compiled->layouts, compiled->sites, *compiled->checks,
                    typing, operators, 0, function, resultOf(function, typing), function.range},
                   std::move(arguments), options);
}

std::variant<Value, RunFault> run(Linked& linked, size_t entry, const Module& language,
                                  const Typing& typing, const OperatorTable& operators,
                                  std::vector<Value> arguments, const Options& options) {
  Boundaries boundaries(language, typing);
  checks::Tables tables;
  RunChecks checks(language, boundaries, tables);
  const Function& signature = *linked.signatures[entry]->function;
  const executable::Port& result = linked.executable->entries[entry].result;
  return runWithin({linked.executable->program,
                    linked.layouts,
                    linked.sites,
                    checks,
                    typing,
                    operators,
                    entry,
                    signature,
                    {typing.of(*signature.parameters.back()), result.isDeclared, result.range},
                    result.range},
                   std::move(arguments), options);
}

} // namespace bytecode
