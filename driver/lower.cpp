// `baton lower`: the kernels of a program as loop nests, and schedules for them.
#include "codegen/llvm/library.h"
#include "codegen/llvm/module.h"
#include "codegen/native/compiler.h"
#include "codegen/native/native_code.h"
#include "driver/commands.h"
#include "driver/executable_file.h"
#include "driver/fixed_inputs.h"
#include "driver/pass_ways.h"
#include "driver/session/budget.h"
#include "driver/session/find_global.h"
#include "driver/session/load.h"
#include "lang/calls/program_nests.h"
#include "lang/source/edit_distance.h"
#include "lower/loops/choose.h"
#include "lower/loops/edit.h"
#include "lower/loops/names.h"
#include "lower/loops/read.h"
#include "lower/loops/rewrite.h"
#include "lower/loops/verify.h"
#include "runtime/formats/file.h"
#include "runtime/formats/quote.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace driver {

namespace {

constexpr uint64_t mostText = 16 << 20;
/// In this form, since an operator has the same name, which no file here may know.
constexpr std::string_view everyStep = R"(all)";

/// The text of a file that is no program.
std::optional<std::string> textOf(const std::string& path, Answer& answer) {
  auto text = Input(path).read();
  if (text && text->size() <= mostText)
    return *std::move(text);
  answer.fail(ExitCode::World,
              text ? fmt::format("{} has more than {} bytes", formats::backquoted(path), mostText)
                   : text.failure().message);
  return std::nullopt;
}

/// The processor of a name, or the one at hand.
runtime::Result<codegen::Processor> processorOf(const LowerOptions& options) {
  return options.processor.empty() ? codegen::hostProcessor()
                                   : codegen::targetNamed(options.processor);
}

/// What native code is scheduled for; without LLVM there is none, and any machine will do.
loops::MachineModel machineModel(const LowerOptions& options) {
  auto processor = processorOf(options);
  return processor ? codegen::modelOf(*processor) : loops::MachineModel{};
}

/// Takes a nest through the steps of a schedule and shows what is asked for.
class Scheduling {
public:
  Scheduling(const LowerOptions& options, Answer& answer) : options_(options), answer_(answer) {}

  void run(loops::Nest nest) {
    std::vector<loops::Step> tuned = tunedSteps(nest);
    // As steps leave it, so that the first one finds the loops that a chosen one found.
    loops::simplify(nest);
    std::vector<loops::Step> steps;
    if (options_.chooses) {
      steps =
          !tuned.empty() ? std::move(tuned) : loops::scheduled(nest, machineModel(options_)).steps;
      for (const loops::Step& step : steps)
        answer_.output += fmt::format("# {}\n", loops::textOf(step));
    } else if (!options_.schedule.empty()) {
      auto text = textOf(options_.schedule, answer_);
      if (!text)
        return;
      auto read = loops::scheduleOf(*text);
      if (!read)
        return answer_.fail(ExitCode::Program, read.failure().text);
      steps = *std::move(read);
    }
    for (const loops::Step& step : steps) {
      auto next = loops::rewritten(nest, step);
      if (!next)
        return answer_.fail(ExitCode::Program,
                            fmt::format("{}:{}: {} does not apply: {}", options_.schedule,
                                        step.line, formats::backquoted(loops::textOf(step)),
                                        next.failure().text));
      nest = *std::move(next);
      if (options_.printAfter == everyStep || options_.printAfter == step.rewrite)
        answer_.output += fmt::format("# after {}\n{}\n", loops::textOf(step), loops::textOf(nest));
    }
    emit(nest);
  }

private:
  /// What a search found for this machine, if there was one and steps are to be chosen; then the
  /// nest gets the names by which it is known there.
  std::vector<loops::Step> tunedSteps(loops::Nest& nest) {
    if (!options_.chooses || !options_.processor.empty())
      return {};
    loops::Nest known = codegen::withKnownNames(nest);
    std::string text = codegen::tunedSchedule(known);
    auto steps = loops::scheduleOf(text);
    if (!steps || steps->empty())
      return {};
    answer_.output += text.substr(0, text.find('\n') + 1);
    nest = std::move(known);
    return *std::move(steps);
  }

  void emit(const loops::Nest& nest) {
    if (options_.emit == "nest") {
      answer_.output += loops::textOf(nest);
      return;
    }
    auto processor = processorOf(options_);
    if (!processor)
      return answer_.fail(ExitCode::World, processor.failure().message);
    auto module = codegen::moduleOf(nest, codegen::targetOf(*processor));
    if (!module) {
      answer_.output += fmt::format("# not compiled: {}\n", module.failure().text);
      return;
    }
    if (options_.emit == "llvm") {
      answer_.output += module->text();
      return;
    }
    auto text = codegen::compiled(module->text(), *processor, codegen::Output::Assembly);
    if (!text)
      return answer_.fail(ExitCode::World, text.failure().message);
    answer_.output += *text;
  }

  const LowerOptions& options_;
  Answer& answer_;
};

bool isRewrite(const std::string& name, Answer& answer) {
  std::vector<std::string_view> names;
  for (const loops::Rewrite& row : loops::rewriteTable())
    names.push_back(row.name);
  if (name.empty() || name == everyStep || std::ranges::find(names, name) != names.end())
    return true;
  answer.fail(ExitCode::World, fmt::format("there is no rewrite {}; there are {}, and `all`",
                                           formats::backquoted(name), fmt::join(names, ", ")));
  return false;
}

/// A nest that a file says.
void lowerNest(const LowerOptions& options, Answer& answer) {
  if (!options.calling.fixed.empty() || givesInputs(options.calling))
    return answer.fail(ExitCode::World, "a kernel in a file is lowered as it stands; only programs "
                                        "have inputs to fix");
  auto text = textOf(options.file, answer);
  if (!text)
    return;
  auto nest = loops::nestOf(*text);
  if (!nest)
    return answer.fail(ExitCode::Program,
                       fmt::format("{}:{}", sourceName(options.file), nest.failure().text));
  if (std::string problem = loops::problemOf(*nest); !problem.empty())
    return answer.fail(ExitCode::Program, fmt::format("{}: the kernel is not valid: {}",
                                                      sourceName(options.file), problem));
  if (!options.kernel.empty() && options.kernel != nest->name)
    return answer.fail(ExitCode::World, fmt::format("the file has the kernel {}, and not {}",
                                                    formats::backquoted(nest->name),
                                                    formats::backquoted(options.kernel)));
  Scheduling(options, answer).run(*std::move(nest));
}

std::string headOf(const Session& session, const lang::ProgramNest& kernel) {
  const lang::SourceFile* file = session.sources().find(kernel.range);
  if (!file)
    return fmt::format("# in @{}\n", kernel.in->name);
  auto [line, column] = file->position(kernel.range.begin);
  return fmt::format("# {}:{}:{}, in @{}\n", file->name(), line, column, kernel.in->name);
}

void show(const Session& session, const LowerOptions& options, const lang::ProgramNest& kernel,
          Answer& answer) {
  answer.output += headOf(session, kernel);
  if (!kernel.nest) {
    answer.output +=
        fmt::format("# {} has no loop nest: {}\n", kernel.name, kernel.nest.failure().text);
    return;
  }
  if (std::string problem = loops::problemOf(*kernel.nest); !problem.empty())
    throw std::logic_error(
        fmt::format("the loop nest of `{}` is not valid: {}", kernel.name, problem));
  loops::Nest nest = *kernel.nest;
  nest.numbers = *loops::numbersOf(options.numbers);
  Scheduling(options, answer).run(std::move(nest));
}

void showAll(const Session& session, const LowerOptions& options,
             const std::vector<lang::ProgramNest>& kernels, Answer& answer) {
  std::vector<std::string_view> names;
  for (const lang::ProgramNest& kernel : kernels)
    names.push_back(kernel.name);
  if (!options.kernel.empty()) {
    auto found = std::ranges::find(kernels, options.kernel, &lang::ProgramNest::name);
    if (found != kernels.end())
      return show(session, options, *found, answer);
    auto similar = lang::similarNames(options.kernel, names);
    return answer.fail(
        ExitCode::World,
        fmt::format("the program has no kernel {}{}", formats::backquoted(options.kernel),
                    !similar.empty() ? fmt::format("; did you mean `{}`?", similar[0])
                    : names.empty()  ? "; it has none at all"
                                     : fmt::format("; it has {}", fmt::join(names, ", "))));
  }
  if (!options.schedule.empty() && kernels.size() != 1)
    return answer.fail(ExitCode::World,
                       fmt::format("a schedule is for one kernel, and the program has {}; say "
                                   "which by `--kernel`",
                                   kernels.size()));
  for (const lang::ProgramNest& kernel : kernels) {
    if (&kernel != &kernels[0])
      answer.output += '\n';
    show(session, options, kernel, answer);
  }
}

void lowerProgram(Session& session, const LowerOptions& options, const Look& look, Answer& answer) {
  if (std::string problem = fixingProblem(options.calling, "kernels are shown"); !problem.empty())
    return answer.fail(ExitCode::World, problem);
  auto program = loadGood(session, options.file, look, answer);
  if (!program)
    return;
  const lang::Global* entry = findGlobal(*program, options.entry, "--entry", answer);
  if (!entry)
    return;
  const std::string name(entry->name);
  if (!fixInputs(session, *program, name, options.calling, answer))
    return;
  OptOptions way{.calling = {.file = options.file, .entry = name}, .way = std::string(forMachine)};
  auto lowerAll = [&] {
    runPassesOf(session, *program, way, look, answer);
    if (answer.code == ExitCode::Good)
      showAll(session, options, lang::programNests(*program->module, program->typing), answer);
  };
  withinLimits(options.limits, session, look, answer, lowerAll);
}

} // namespace

Answer lower(Session& session, const LowerOptions& options, const Look& look) {
  Answer answer;
  if (!isRewrite(options.printAfter, answer))
    return answer;
  const bool isScheduled = options.chooses || !options.schedule.empty();
  if (!options.processor.empty())
    if (auto named = codegen::targetNamed(options.processor); !named) {
      answer.fail(ExitCode::World, named.failure().message);
      return answer;
    }
  if (!options.printAfter.empty() && !isScheduled)
    answer.fail(ExitCode::World,
                "`--print-after` shows steps of a schedule; give `--schedule` or `--choose`");
  else if (options.chooses && !options.schedule.empty())
    answer.fail(ExitCode::World, "`--choose` and `--schedule` both say which steps to take; give "
                                 "one of them");
  else if (options.file.ends_with(".nest"))
    lowerNest(options, answer);
  else
    lowerProgram(session, options, look, answer);
  return answer;
}

Answer rewrites() {
  Answer answer;
  for (const loops::Rewrite& row : loops::rewriteTable())
    answer.output +=
        fmt::format("{:<32} {}\n", fmt::format("{} {}", row.name, row.arguments), row.doc);
  return answer;
}

} // namespace driver
