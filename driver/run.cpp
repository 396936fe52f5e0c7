// `baton run`: calls a function of a program with tensors from files and shows or keeps its result.
#include "bytecode/run.h"
#include "driver/arguments.h"
#include "driver/derive.h"
#include "driver/engines.h"
#include "driver/executable_file.h"
#include "driver/fault_text.h"
#include "driver/find_global.h"
#include "driver/interrupt.h"
#include "driver/load.h"
#include "driver/outputs.h"
#include "driver/place_text.h"
#include "driver/profile.h"
#include "driver/progress.h"
#include "driver/trace.h"
#include "driver/value_files.h"
#include "driver/value_text.h"
#include "formats/quote.h"
#include "interp/interpret.h"
#include "lang/utf8.h"
#include "lang/walk.h"
#include "lower/engine.h"
#include "runtime/holdings.h"

#include <deque>
#include <set>

namespace driver {

namespace {

/// A value that the program shows, after the place that does.
std::string shownText(Session& session, const Program& program, const runtime::Value& value,
                      lang::SourceRange where) {
  std::string text = valueText(value, session.types(), program.typing) + '\n';
  const lang::SourceFile* file = session.sources().find(where);
  if (!file)
    return text;
  lang::LineColumn at = file->position(where.begin);
  return fmt::format("{}:{}:{}: {}", file->name(), at.line, at.column, text);
}

/// Whether the machine runs the program; it computes in the program's own types, and looks at no
/// result but where the program does.
bool isOnMachine(const RunOptions& options) {
  bool isFree =
      options.engine.empty() && options.precision == 0 && !options.trapsNonFinite && !options.trace;
  return isFree || options.engine == "vm";
}

std::variant<runtime::Value, interp::Fault>
call(Session& session, const Program& program, const lang::Global& entry,
     std::vector<runtime::Value> arguments, const tensor::TensorEngine& engine,
     const RunOptions& options, const Look& look, lang::Diagnostics& findings, Answer& answer) {
  profile::Recorder recorder;
  Progress progress(look.progress && !options.trace);
  interp::Options how;
  how.engine = engine;
  how.trapsNonFinite = options.trapsNonFinite;
  how.limits = options.limits;
  how.progress = [&](uint64_t calls) { progress.step(calls); };
  how.rounding = [&](const lang::OperatorRow& row, lang::SourceRange where) {
    findings.report(lang::Message::Float64Result, where, row.name);
  };
  auto write = [&](const std::string& text) {
    progress.clear();
    look.show ? look.show(text) : void(answer.errors += text);
  };
  how.show = [&](const runtime::Value& value, lang::SourceRange where) {
    write(shownText(session, program, value, where));
  };
  std::optional<Tracer> tracer;
  if (options.trace)
    how.observer = &tracer.emplace(session, program, write).observer();
  InterruptWatch watch;
  how.isInterrupted = [&] { return watch.isInterrupted(); };
  auto interpreted = [&] {
    return interp::interpret(*program.module, program.typing, session.operators(), entry, arguments,
                             how);
  };
  auto onMachine = [&] {
    try {
      return bytecode::run(*program.module, program.typing, session.operators(), entry, arguments,
                           {.engine = how.engine,
                            .run = {.progress = how.progress,
                                    .show = how.show,
                                    .isInterrupted = how.isInterrupted,
                                    .limits = how.limits},
                            .profile = wantsProfile(options) ? &recorder : nullptr,
                            .placeText = [&](lang::SourceRange range) {
                              return placeText(session.sources(), range, program.source);
                            }});
    } catch (const bytecode::TooLarge& error) {
      answer.errors += fmt::format("note: the machine has no code for {}, so the interpreter runs "
                                   "the program\n",
                                   error.what());
      return interpreted();
    }
  };
  auto result = isOnMachine(options) ? onMachine() : interpreted();
  if (wantsProfile(options))
    reportProfile(recorder, options, answer);
  auto* fault = std::get_if<interp::Fault>(&result);
  if (fault && fault->kind == runtime::FaultKind::Interrupted)
    fault->problem += fmt::format(" and {:.1f} seconds", progress.seconds());
  return result;
}

ExitCode codeOf(runtime::FaultKind kind) {
  switch (kind) {
  case runtime::FaultKind::Memory:
    return ExitCode::World;
  case runtime::FaultKind::Interrupted:
    return ExitCode::Interrupted;
  default:
    return ExitCode::Program;
  }
}

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

/// The calls of operators that stand in a text: where, and of which.
using WrittenCalls = std::set<std::pair<uint32_t, std::string_view>>;

WrittenCalls writtenCalls(const lang::Module& module) {
  WrittenCalls calls;
  lang::walk(
      module,
      [&](const lang::Binding& binding) {
        const auto* call = binding.value->as<lang::Call>();
        if (const auto* op = call ? call->callee.value->as<lang::OperatorRef>() : nullptr)
          calls.emplace(call->range.begin, op->row->name);
      },
      [](const lang::Operand&) {});
  return calls;
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
std::optional<std::vector<runtime::Value>> goodArguments(const lang::Global& entry,
                                                         const lang::Typing& typing,
                                                         const RunOptions& options,
                                                         Answer& answer) {
  Arguments arguments = readArguments(entry, typing, options);
  for (const std::string& note : arguments.notes)
    answer.errors += "note: " + note + '\n';
  for (const std::string& problem : arguments.problems)
    answer.fail(ExitCode::World, problem);
  if (!arguments.problems.empty())
    return std::nullopt;
  return std::move(arguments.values);
}

/// What an executable has no other way for.
std::string executableProblem(const RunOptions& options) {
  if (options.grad != 0)
    return "an executable has no gradients; compile a program that computes them";
  if (!isOnMachine(options))
    return "an executable runs on the machine alone; `--engine`, `--precision`, `--trap-nan` and "
           "`--trace` are for programs in the text format";
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
  if (options.output)
    if (auto good = checkOutput(*options.output, resultType); !good)
      return answer.fail(ExitCode::World, good.failure().message);
  auto arguments = goodArguments(entry.global, typing, options, answer);
  if (!arguments)
    return;
  Progress progress(look.progress);
  InterruptWatch watch;
  bytecode::Options how{.engine = lower::loopsEngine()};
  how.run = {.progress = [&](uint64_t calls) { progress.step(calls); },
             .show =
                 [&](const runtime::Value& value, lang::SourceRange where) {
                   progress.clear();
                   std::string text = shownText(session, loaded.language, value, where);
                   look.show ? look.show(text) : void(answer.errors += text);
                 },
             .isInterrupted = [&] { return watch.isInterrupted(); },
             .limits = options.limits};
  profile::Recorder recorder;
  if (wantsProfile(options))
    how.profile = &recorder;
  how.placeText = [&](lang::SourceRange range) {
    return placeText(session.sources(), range, loaded.language.source);
  };
  auto result = bytecode::run(*loaded.linked, *number, *loaded.language.module, typing,
                              session.operators(), *std::move(arguments), how);
  if (wantsProfile(options))
    reportProfile(recorder, options, answer);
  if (auto* fault = std::get_if<interp::Fault>(&result)) {
    if (fault->kind == runtime::FaultKind::Interrupted)
      fault->problem += fmt::format(" and {:.1f} seconds", progress.seconds());
    answer.code = codeOf(fault->kind);
    answer.errors += faultText(*fault, session.sources(), look);
    return;
  }
  RunResult given{std::get<runtime::Value>(std::move(result))};
  answer.output = valueText(given.value, session.types(), typing) + '\n';
  if (options.output)
    if (auto saved = writeOutput(*options.output, given); !saved)
      answer.fail(ExitCode::World, saved.failure().message);
}

void runProgram(Session& session, Program& program, const RunOptions& options, const Look& look,
                Answer& answer) {
  const lang::Global* entry = findGlobal(*program.module, options.entry, "--entry", answer);
  if (!entry)
    return;
  const std::vector<std::string> differentiated = namesWithGradient(*entry, program, options);
  const std::string entryName(entry->name);
  const WrittenCalls written = writtenCalls(*program.module);
  if (!writeOutDerivatives(session, program, std::array<std::string_view, 1>{entryName}, options,
                           look, answer))
    return;
  const std::string called(options.grad ? program.module->globals.back()->name : entryName);
  if (isOnMachine(options))
    prepareForMachine(session, program, std::array<std::string_view, 1>{called},
                      wantsProfile(options));
  entry = program.module->find(called);
  if (std::string problem = observationProblem(options); !problem.empty())
    return answer.fail(ExitCode::World, problem);
  auto engine = engineOf(options.engine, options.precision);
  if (!engine)
    return answer.fail(ExitCode::World, engine.failure().message);
  if (options.output)
    if (auto good = checkOutput(*options.output, program.typing.result(*entry->function)); !good)
      return answer.fail(ExitCode::World, good.failure().message);
  auto arguments = goodArguments(*entry, program.typing, options, answer);
  if (!arguments)
    return;
  lang::Diagnostics findings = session.noFindings();
  auto result = call(session, program, *entry, *std::move(arguments), *engine, options, look,
                     findings, answer);
  answer.errors += findingsText(session, findings, options.file, look);
  if (auto* fault = std::get_if<interp::Fault>(&result)) {
    if (!fault->op.empty() && !written.contains({fault->range.begin, fault->op}))
      fault->notes.push_back("this is on the way back, in the derivative of what stands here");
    answer.code = codeOf(fault->kind);
    answer.errors += faultText(*fault, session.sources(), look);
    return;
  }
  RunResult given = resultOf(std::get<runtime::Value>(result), differentiated, options);
  answer.output = valueText(given.value, session.types(), program.typing) + '\n';
  if (options.grad && given.gradients.empty())
    answer.errors += "note: no input holds floats, so there is no gradient\n";
  for (const auto& [name, gradient] : given.gradients)
    answer.output += fmt::format("grad.{} = {}\n", lang::printable(name),
                                 valueText(gradient, session.types(), program.typing));
  if (options.output)
    if (auto saved = writeOutput(*options.output, given); !saved)
      answer.fail(ExitCode::World, saved.failure().message);
}

} // namespace

Answer run(Session& session, const RunOptions& options, const Look& look) {
  Answer answer;
  if (options.output)
    if (auto good = checkOutput(*options.output, nullptr); !good) {
      answer.fail(ExitCode::World, good.failure().message);
      return answer;
    }
  if (std::string problem = outputProblem(options.file, {{"--output", options.output},
                                                         {"--flame-graph", options.flameGraph},
                                                         {"--chrome-trace", options.chromeTrace}});
      !problem.empty()) {
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
  if (auto program = loadGood(session, std::move(input), look, answer)) {
    runtime::Holdings before = runtime::held();
    runProgram(session, *program, options, look, answer);
    answer.errors += leftText(runtime::held().tensorBytes - before.tensorBytes);
  }
  return answer;
}

} // namespace driver
