// `baton run`: calls a function of a program with tensors from files and shows or keeps its result.
#include "driver/arguments.h"
#include "driver/debug/written_calls.h"
#include "driver/engines.h"
#include "driver/executable_file.h"
#include "driver/fixed_inputs.h"
#include "driver/outputs.h"
#include "driver/profile.h"
#include "driver/running.h"
#include "driver/saves.h"
#include "driver/session/budget.h"
#include "driver/session/derive.h"
#include "driver/session/find_global.h"
#include "driver/session/load.h"
#include "driver/session/shown_passes.h"
#include "runtime/formats/quote.h"
#include "runtime/holdings.h"

#include <deque>

namespace driver {

namespace {

/// What values hold beyond what they held before the run: cycles of references keep them. The
/// machine collects its own.
std::string leftText(int64_t bytes) {
  constexpr int64_t mentioned = 1'000'000;
  if (bytes < mentioned)
    return "";
  return fmt::format("note: references that lead back to themselves held {:.1f} MB of tensors to "
                     "the end\n",
                     double(bytes) / 1e6);
}

/// What a run gave, from the pair of value and gradients where there are some.
RunResult resultOf(const runtime::Value& value, const std::vector<std::string>& differentiated,
                   const RunOptions& options) {
  if (!options.grad)
    return {value};
  RunResult result{value.fields()[0]};
  for (size_t i = 0; i < differentiated.size(); ++i)
    result.gradients.emplace_back(differentiated[i], value.fields()[1].fields()[i]);
  return result;
}

/// The arguments of a run, or nothing, and the answer says why.
std::optional<std::vector<runtime::Value>>
goodArguments(Session& session, const lang::Global& entry, const Program& program,
              const RunOptions& options, Answer& answer, const FixedInputs& fixed = {}) {
  Arguments arguments = readArguments(entry, program, session.types(), options, fixed);
  for (const std::string& note : arguments.notes)
    answer.errors += "note: " + note + '\n';
  for (const std::string& problem : arguments.problems)
    answer.fail(ExitCode::World, problem);
  if (!arguments.problems.empty())
    return std::nullopt;
  return std::move(arguments.values);
}

/// Whether what the options say can be written of what a run gives, and of the value in it; else
/// the answer says why.
bool canWrite(Session& session, const Program& program, const lang::Type* given,
              const lang::Type* value, const RunOptions& options, Answer& answer) {
  std::string problem;
  if (options.output)
    if (auto good = checkOutput(*options.output, given, false, program.notation()); !good)
      problem = good.failure().message;
  if (problem.empty())
    problem = saveProblem(session.types(), value, options.saves, program.notation());
  if (!problem.empty())
    answer.fail(ExitCode::World, problem);
  return problem.empty();
}

/// What an executable has no other way for.
std::string executableProblem(const RunOptions& options) {
  if (options.grad != 0)
    return "an executable has no gradients; compile a program that computes them";
  if (!options.fixed.empty())
    return "the inputs of an executable are fixed when it is compiled; `compile` has `--fix`";
  if (!isOnMachine(options))
    return "an executable runs on the machine alone; `--engine`, `--precision`, `--trap-nan` and "
           "`--trace` are for programs in the text format";
  if (!options.view.printAfter.empty() || !options.view.stopAfter.empty() ||
      !options.view.skipped.empty())
    return "an executable went through its passes when it was compiled; `compile` shows them";
  return "";
}

/// An entry of an executable as a definition that takes what it takes. The text of the language
/// names each variable differently; the entry's parameters have names of their own.
struct LinkedEntry {
  LinkedEntry(const bytecode::Linked& linked, size_t number)
      : function(*linked.signatures[number]->function), global(*linked.signatures[number]) {
    const executable::Entry& called = linked.executable->entries[number];
    for (const executable::Port& port : called.parameters) {
      parameters.push_back(*function.parameters[parameters.size()]);
      parameters.back().name = port.name;
      list.push_back(&parameters.back());
    }
    function.parameters = list;
    global.name = called.name;
    global.function = &function;
  }
  LinkedEntry(const LinkedEntry&) = delete;

  lang::Function function;
  std::deque<lang::Var> parameters;
  std::vector<const lang::Var*> list;
  lang::Global global;
};

void runExecutable(Session& session, Loaded& loaded, const RunOptions& options, const Look& look,
                   Answer& answer) {
  const lang::Typing& typing = loaded.language.typing;
  if (std::string problem = executableProblem(options); !problem.empty())
    return answer.fail(ExitCode::World, problem);
  using Said = std::optional<std::string_view>;
  auto number =
      entryNumber(*loaded.linked->executable, options.isEntrySaid ? Said(options.entry) : Said());
  if (!number)
    return answer.fail(ExitCode::World, number.failure().text);
  const lang::Type* resultType =
      typing.of(*loaded.linked->signatures[*number]->function->parameters.back());
  const LinkedEntry entry(*loaded.linked, *number);
  if (!canWrite(session, loaded.language, resultType, resultType, options, answer))
    return;
  auto arguments = goodArguments(session, entry.global, loaded.language, options, answer);
  if (!arguments)
    return;
  auto engine = engineOf(options, answer.errors);
  if (!engine)
    return answer.fail(ExitCode::World, engine.failure().message);
  Running running(session, loaded.language, options, look, answer);
  auto outcome =
      bytecode::run(*loaded.linked, *number, *loaded.language.module, typing, session.operators(),
                    *std::move(arguments), running.onMachine(*engine));
  const runtime::Value* value = running.end(outcome, *engine);
  if (value && options.isTimed)
    running.giveTiming();
  else if (value)
    giveResult(session, loaded.language, options, {*value}, resultType, answer);
}

/// What is called of a program that is ready to run.
struct Ready {
  std::string called;
  /// Whether derivatives were written out.
  bool isDerived;
};

/// Makes a program ready to run; nothing when the answer says what stands in the way.
std::optional<Ready> prepared(Session& session, Program& program, const std::string& entry,
                              const RunOptions& options, const Look& look, Answer& answer) {
  const lang::Module* text = program.module.get();
  if (!writeOutDerivatives(session, program, std::array<std::string_view, 1>{entry}, options, look,
                           answer))
    return std::nullopt;
  bool isDerived = program.module.get() != text;
  std::string called(options.grad ? program.module->globals.back()->name : entry);
  // Passes would take calls out of the trace of a trap.
  if (isOnMachine(options) && !options.trapsNonFinite)
    prepareForMachine(session, program, std::array<std::string_view, 1>{called},
                      wantsProfile(options));
  return Ready{called, isDerived};
}

void runProgram(Session& session, Program& program, const RunOptions& options, const Look& look,
                Answer& answer, ShownPasses& shown) {
  const lang::Global* entry = findGlobal(program, options.entry, "--entry", answer);
  if (!entry)
    return;
  const std::string entryName(entry->name);
  std::optional<Ready> ready;
  std::optional<FixedInputs> fixed;
  std::vector<std::string> differentiated;
  std::optional<WrittenCalls> written;
  auto prepare = [&] {
    written.emplace(*program.module);
    fixed = fixInputs(session, program, entryName, options, answer);
    if (!fixed)
      return;
    differentiated = namesWithGradient(*program.module->find(entryName), program, options);
    ready = prepared(session, program, entryName, options, look, answer);
  };
  if (!withinLimits(options.limits, session, look, answer, prepare) || !ready)
    return;
  if (!shown.end())
    return;
  entry = program.module->find(ready->called);
  if (std::string problem = observationProblem(options); !problem.empty())
    return answer.fail(ExitCode::World, problem);
  auto engine = engineOf(options, answer.errors);
  if (!engine)
    return answer.fail(ExitCode::World, engine.failure().message);
  const lang::Type* type = program.typing.result(*entry->function);
  // Gradients stand beside the value.
  const lang::Type* valueType = options.grad ? type->parts[0] : type;
  if (!canWrite(session, program, type, valueType, options, answer))
    return;
  auto arguments = goodArguments(session, *entry, program, options, answer, *fixed);
  if (!arguments)
    return;
  Running running(session, program, options, look, answer);
  auto outcome = running.call(*entry, *std::move(arguments), *engine);
  if (auto* fault = std::get_if<interp::Fault>(&outcome);
      fault && (ready->isDerived || !options.fixed.empty()))
    written->explain(*fault);
  const runtime::Value* value = running.end(outcome, *engine);
  if (!value)
    return;
  if (options.isTimed) {
    running.giveTiming();
    return;
  }
  RunResult given = resultOf(*value, differentiated, options);
  if (options.grad && given.gradients.empty())
    answer.errors += "note: no input holds floats, so there is no gradient\n";
  giveResult(session, program, options, given, valueType, answer);
}

} // namespace

Answer run(Session& session, const RunOptions& given, const Look& look) {
  Answer answer;
  RunOptions options = given;
  options.limits.since = std::chrono::steady_clock::now();
  if (options.output)
    if (auto good = checkOutput(*options.output, nullptr, options.grad != 0); !good) {
      answer.fail(ExitCode::World, good.failure().message);
      return answer;
    }
  std::vector<OutputPath> outputs = {{"--output", options.output},
                                     {"--flame-graph", options.flameGraph},
                                     {"--chrome-trace", options.chromeTrace}};
  for (const std::string& word : options.saves)
    outputs.push_back({"--save", readSave(word).path});
  if (std::string problem = outputProblem(options.file, outputs); !problem.empty()) {
    answer.fail(ExitCode::World, problem);
    return answer;
  }
  Input input(options.file);
  if (input.isExecutable()) {
    auto made = openExecutable(session, input, {}, look, answer);
    if (!made)
      return answer;
    auto loaded = linkExecutable(session, std::move(made), sourceName(options.file));
    if (!loaded)
      answer.fail(ExitCode::World,
                  fmt::format("cannot run {}: {}", input.quoted(), loaded.failure().message));
    else
      runExecutable(session, *loaded, options, look, answer);
    return answer;
  }
  ShownPasses shown(session, options.view, answer);
  if (!shown.isGood())
    return answer;
  if (auto program = loadGood(session, std::move(input), look, answer)) {
    runtime::Holdings before = runtime::held();
    runProgram(session, *program, options, look, answer, shown);
    answer.errors += leftText(runtime::held().tensorBytes - before.tensorBytes);
  }
  return answer;
}

} // namespace driver
